//! The story: a team hands its network to a shoot, and gets it back as it was.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Instant,
};

use fabric_infrastructure::Key;
use serde_json::Value;

use super::{
    cloud,
    given::{Asks, Given},
};
use crate::{
    apply,
    cloud::{Place, Session},
    delete,
    embedded::Embedded,
    exit::{Exit, Result, Stop},
    input::{Source, plain},
    objects::{self, Facts},
    output::{self, Format, Output, Paint},
    plan, state_file,
    state_file::StateFile,
    status, topology,
    validate::show,
    work::Work,
};

const SHOOT: &str = "shoot--demo--byo";
const TABLE: Output = Output { format: Format::Table };

/// Plays it in a folder of its own, so that it can be played again, also at the same time.
///
/// # Errors
/// The first chapter that does not go as told.
pub(super) async fn play(paint: Paint) -> Result<Exit> {
    let home = state_file::home()?;
    let folder = home.join(format!("demo-story-{}", std::process::id()));
    fs::create_dir_all(&folder).map_err(|error| unwritable(&folder, &error))?;
    let story = Story { paint, folder: folder.clone(), drawing: home.join("demo-topology.svg") };
    let ended = story.tell().await;
    // Nobody needs it any more; one that stays is only litter.
    let _ = fs::remove_dir_all(&folder);
    ended
}

fn unwritable(path: &Path, error: &std::io::Error) -> Stop {
    Stop::error(format!("{}: {}", path.display(), plain(error)))
        .next("set XDG_STATE_HOME to a folder that can be written")
}

struct Story {
    paint: Paint,
    folder: PathBuf,
    drawing: PathBuf,
}

impl Story {
    async fn tell(&self) -> Result<Exit> {
        let start = Instant::now();
        self.say("An OpenStack cloud, embedded in this program, with a network that belongs to a team.")?;
        let embedded = Embedded::start(&self.folder.join("cloud.json"), Some("demo")).await?;
        let given = Given::seed(&embedded.cloud)?;
        given.settled(&embedded.cloud).await?;
        let before = given.fingerprints(&embedded.cloud)?;
        for (kind, name, hash) in &before {
            output::print(&format!("  {kind:<17} {name:<13} {}\n", self.paint.dim(hash)))?;
        }
        let subject = self.configs(&given, embedded.cloud.region())?;
        let place = Place { profile: None, region: None, login: None, verb: None };
        let session = Session::on(embedded, &place).await?;
        let state_path = self.folder.join("state.json");
        let file = StateFile::lock(&state_path, "demo")?;
        let mut work = Work { subject, session, state_path, warnings: Vec::new() };
        self.birth(&mut work, &file).await?;
        self.neighbour(&mut work, &given).await?;
        self.drift(&mut work, &file).await?;
        self.chapter(10, "Take it away: what was made goes, what was given stays", "delete", SHOOT)?;
        delete::delete(&mut work, &file, true, TABLE, self.paint).await?;

        self.say("What was given, by content, before and after:")?;
        let after = given.fingerprints(cloud(&work.session)?)?;
        let unchanged = self.compare(&before, &after)?;
        let took =
            format!("Played in {:.1} s. Try it: kubectl fabric demo given --help", start.elapsed().as_secs_f64());
        output::print(&format!("\n{}\n", self.paint.dim(took)))?;
        if unchanged { Ok(Exit::Ok) } else { Err(Stop::error("something given was changed")) }
    }

    /// Chapters 1 and 2: the config, wrong and right.
    fn configs(&self, given: &Given, region: String) -> Result<objects::Subject> {
        self.chapter(1, "A config with mistakes: every one is told, and nothing is done", "validate", "")?;
        let bad =
            given.config(4).replace(&given.network, "team-network") + "  workers: 10.180.0.0/33\n  subnet: team\n";
        self.validate("byo.yaml", &bad)?;

        self.chapter(2, "The same without mistakes: network, router and subnet are given", "validate", "")?;
        let config = given.config(4);
        output::print(&self.paint.dim(indent(&config)))?;
        let subject = self.validate("byo.yaml", &config)?;
        let mut subject = subject.ok_or_else(|| Stop::error("the good config was refused"))?;
        let shoot = &mut subject.input.shoot;
        shoot.technical_id = SHOOT.to_owned();
        shoot.pods = Some("100.96.0.0/11".to_owned());
        shoot.region = Some(region);
        Ok(subject)
    }

    /// Chapters 3 to 6: plan, apply, status, topology.
    async fn birth(&self, work: &mut Work, file: &StateFile) -> Result<()> {
        let title = "What would be made: nothing of the network, only what the shoot needs for itself";
        self.chapter(3, title, "plan", SHOOT)?;
        self.plan(work).await?;

        self.chapter(4, "Make it", "apply", SHOOT)?;
        let (state, _) = work.recall()?;
        let (done, _) = apply::act(work, file, state, TABLE, "apply", self.paint).await?;

        self.chapter(5, "What Gardener reads", "status", SHOOT)?;
        output::print(&status::table(&done, self.paint))?;

        self.chapter(6, "A drawing, given and owned told apart", "topology --svg FILE", SHOOT)?;
        let (state, _) = work.recall()?;
        let seen = topology::look(work, &state, TABLE, self.paint).await?;
        output::print(&topology::text::draw(&seen, self.paint))?;
        topology::draw(&seen, &self.drawing)?;
        output::print(&format!("  drawn into {}\n", self.drawing.display()))
    }

    /// Chapter 7: another shoot on the same subnet.
    async fn neighbour(&self, work: &mut Work, given: &Given) -> Result<()> {
        let title = "A second shoot on the same subnet is given a security group too: only its key pair is made";
        let name = "shoot--demo--two";
        self.chapter(7, title, "plan", name)?;
        let second = self.validate("byo.yaml", &given.config(5))?;
        let mut second = second.ok_or_else(|| Stop::error("the config with a security group was refused"))?;
        second.input.shoot.technical_id = name.to_owned();
        let first = std::mem::replace(&mut work.state_path, self.folder.join("second.json"));
        std::mem::swap(&mut work.subject, &mut second);
        self.plan(work).await?;
        std::mem::swap(&mut work.subject, &mut second);
        work.state_path = first;
        Ok(())
    }

    /// Chapters 8 and 9: what changed behind our back is found and put right.
    async fn drift(&self, work: &mut Work, file: &StateFile) -> Result<()> {
        self.chapter(8, "Somebody removes a rule of our security group behind our back", "drift", SHOOT)?;
        remove_a_rule(work)?;
        if self.plan(work).await? {
            return Err(Stop::error("the removed rule was not noticed"));
        }
        self.chapter(9, "Put it right", "drift --repair", SHOOT)?;
        let (state, _) = work.recall()?;
        apply::act(work, file, state, TABLE, "drift --repair", self.paint).await?;
        if self.plan(work).await? { Ok(()) } else { Err(Stop::error("the removed rule was not put back")) }
    }

    fn say(&self, text: &str) -> Result<()> {
        output::print(&format!("\n{}\n", self.paint.bold(text)))
    }

    fn chapter(&self, number: u8, title: &str, verb: &str, shoot: &str) -> Result<()> {
        let head = self.paint.bold(format!("{number}  {title}"));
        let name = if shoot.is_empty() { String::new() } else { format!(" --name {shoot}") };
        let command = self.paint.cyan(format!("$ kubectl fabric infra {verb} -f byo.yaml{name}"));
        output::print(&format!("\n{head}\n{command}\n"))
    }

    /// Validates a file and shows the findings; the subject of a valid one.
    fn validate(&self, name: &str, text: &str) -> Result<Option<objects::Subject>> {
        let path = self.folder.join(name);
        fs::write(&path, text).map_err(|error| unwritable(&path, &error))?;
        let mut objects = objects::load(&[Source::File(path)], &Facts::default())?;
        let mut shown = String::new();
        for object in &mut objects {
            object.report.file = name.into();
            show::block(&object.report, self.paint, &mut shown);
        }
        output::print(&shown)?;
        let valid = objects.into_iter().find(|object| object.report.errors.is_empty());
        Ok(valid.and_then(|object| object.subject).map(|subject| *subject))
    }

    /// Shows a plan; whether there is nothing to do.
    async fn plan(&self, work: &mut Work) -> Result<bool> {
        let (state, _) = work.recall()?;
        let drawn = plan::draw(work, &state, "plan", TABLE, self.paint).await?;
        let shown = &drawn.shown;
        output::print(&shown.table(&work.title(), self.paint))?;
        let (word, sentence) =
            (if shown.settled { "Nothing to do" } else { "To do" }, plan::show::sentence(&shown.items));
        output::print(&format!("{word}: {sentence}.\n"))?;
        Ok(shown.settled)
    }

    fn compare(&self, before: &[Print], after: &[Print]) -> Result<bool> {
        let mut same = true;
        for ((kind, name, old), (_, _, new)) in before.iter().zip(after) {
            let equal = old == new;
            same &= equal;
            let verdict = if equal { self.paint.green("unchanged") } else { self.paint.red("CHANGED") };
            output::print(&format!("  {kind:<17} {name:<13} {}  {verdict}\n", self.paint.dim(format!("{old} {new}"))))?;
        }
        Ok(same && before.len() == after.len())
    }
}

type Print = (&'static str, &'static str, String);

fn indent(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

/// As the cloud's user would, past every record of ours.
fn remove_a_rule(work: &Work) -> Result<()> {
    let (state, none) = (state_file::read(&work.state_path)?, || Stop::error("no security group is recorded"));
    let state = state.ok_or_else(none)?;
    let group = state.get(Key::SecurityGroup).ok_or_else(none)?;
    let user = cloud(&work.session)?.user("demo").map_err(Stop::error)?;
    let rules = user.ask("GET", &format!("/v2.0/security-group-rules?security_group_id={group}"), Value::Null)?;
    let rules = rules.body.get("security_group_rules").and_then(Value::as_array);
    let rule = rules.into_iter().flatten().find(|rule| rule.get("protocol").is_some_and(|it| it == "tcp"));
    let id = rule.and_then(|rule| rule.get("id")).and_then(Value::as_str);
    let id = id.ok_or_else(|| Stop::error("the security group has no rule for TCP"))?;
    user.ask("DELETE", &format!("/v2.0/security-group-rules/{id}"), Value::Null).map(drop)
}
