//! Where a reader sits: a home, a cloud called `mycloud`, the repository's folders, and the command on the path.

use std::{
    ffi::OsStr,
    fs,
    net::TcpListener,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::Stdio,
};

use fabric_openstack_sim::{Cloud, Config};
use fabric_test_program::binary;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{Output, console, examples, given, root};

/// The garden's program with webhooks.
const ADMISSION: &str = "gardener-extension-admission-openstack-fabric";

/// A reader's place.
pub struct Place {
    home: TempDir,
    /// The embedded cloud; `None` on the lab.
    _cloud: Option<Cloud>,
    /// The lab's Kubernetes, where the place has it.
    kubeconfig: Option<PathBuf>,
}

impl Place {
    /// Without a cloud; the examples carry made-up ids.
    pub fn offline() -> Self {
        let place = Self::new(None, &json!({}));
        place.rendered(&given::made_up());
        place
    }

    /// With an embedded cloud that holds what a user could hand over.
    pub async fn embedded() -> Self {
        let cloud = Cloud::start(Config::default()).await.expect("an embedded cloud");
        let values = given::make(&cloud);
        let clouds: Value = serde_json::from_str(&cloud.clouds_yaml()).expect("clouds.yaml");
        let place = Self::new(Some(cloud), &clouds["clouds"]["demo"]);
        place.rendered(&values);
        place
    }

    /// With the lab that the environment names; `None`, and a word on standard error: there is none.
    pub fn lab() -> Option<Self> {
        let Some(clouds) = std::env::var_os("OS_CLIENT_CONFIG_FILE").filter(|path| Path::new(path).exists()) else {
            eprintln!("SKIPPED: no lab; eval \"$(hack/lab env)\" after make lab-up, or hack/test docs");
            return None;
        };
        let clouds = fs::read_to_string(clouds).expect("clouds.yaml");
        let clouds: Value = serde_yaml::from_str(&clouds).expect("clouds.yaml");
        let place = Self::new(None, &clouds["clouds"]["demo"]);
        // The real one, with the reader's real home: the lab's programs live below it.
        let kept = ["HOME", "XDG_CACHE_HOME", "FABRIC_LAB_STATE"].map(|name| {
            let value = std::env::var(name).unwrap_or_default();
            if value.is_empty() { String::new() } else { format!("export {name}='{value}'\n") }
        });
        // That it waits for another test is nobody's business; that it fails is.
        let (lab, told) = (root().join("hack/lab"), place.path("lab.err"));
        let (lab, told) = (lab.display(), told.display());
        let script = format!("#!/bin/sh\n{}'{lab}' \"$@\" 2>'{told}' && exit\n", kept.concat());
        place.executable("work/hack/lab", &format!("{script}code=$?\ncat '{told}' >&2\nexit $code\n"));
        Some(place)
    }

    /// With the lab that the environment names, and the Kubernetes beside it; `None`, and a word on standard error: not
    /// both are there.
    pub fn kube() -> Option<Self> {
        let named = |name: &str| std::env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from);
        let (Some(kubeconfig), Some(bin)) = (named("FABRIC_LAB_KUBECONFIG"), named("FABRIC_LAB_KUBE_BIN")) else {
            eprintln!(
                "SKIPPED: no Kubernetes in the lab; hack/lab up all && eval \"$(hack/lab env)\", or hack/test docs"
            );
            return None;
        };
        let mut place = Self::lab()?;
        place.kubeconfig = Some(kubeconfig);
        symlink(binary(ADMISSION), place.path("bin").join(ADMISSION)).expect("the program");
        place.executable("bin/kubectl", &format!("#!/bin/sh\nexec '{}' \"$@\"\n", bin.join("kubectl").display()));
        Some(place)
    }

    fn new(cloud: Option<Cloud>, mycloud: &Value) -> Self {
        let home = tempfile::Builder::new().prefix("fabric-docs").tempdir().expect("a temporary folder");
        let place = Self { home, _cloud: cloud, kubeconfig: None };
        for folder in ["bin", "work/hack", "rendered"] {
            fs::create_dir_all(place.path(folder)).expect("a folder");
        }
        let clouds = json!({"clouds": {"mycloud": mycloud}});
        fs::write(place.path("clouds.yaml"), clouds.to_string()).expect("clouds.yaml");
        symlink(root().join("examples"), place.path("work/examples")).expect("examples");
        symlink(binary("kubectl-fabric"), place.path("bin/kubectl-fabric")).expect("the command");
        // What kubectl does with a plugin.
        let kubectl = "#!/bin/sh\n[ \"$1\" = fabric ] || exit 64\nshift\nexec kubectl-fabric \"$@\"\n";
        place.executable("bin/kubectl", kubectl);
        place
    }

    /// Fills the examples in, and makes `hack/lab render` print them.
    fn rendered(&self, values: &given::Values) {
        for name in examples() {
            let text = fs::read_to_string(root().join("examples").join(&name)).expect("an example");
            fs::write(self.path("rendered").join(&name), given::render(&text, values)).expect("a rendered example");
        }
        let script = "#!/bin/sh\n[ \"$1\" = render ] || exit 64\nshift\nfor file; do\n  \
                      [ -z \"$more\" ] || echo ---\n  more=1\n  cat \"$HOME/rendered/$(basename \"$file\")\"\ndone\n";
        self.executable("work/hack/lab", script);
    }

    fn executable(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::write(&path, text).expect("a script");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("an executable");
    }

    fn path(&self, below: &str) -> PathBuf {
        self.home.path().join(below)
    }

    /// An example with its placeholders filled in, written down.
    pub async fn render(&self, name: &str) -> PathBuf {
        let printed = self.run("hack/lab", ["render", &format!("examples/{name}")]).await.ends_with(0);
        let path = self.path("work").join(name);
        fs::write(&path, printed.stdout).expect("a rendered example");
        path
    }

    /// Runs `kubectl-fabric` with these words.
    pub async fn fabric(&self, words: &str) -> Output {
        self.run("kubectl-fabric", words.split_whitespace()).await
    }

    /// Runs the steps of a document in one shell, and returns what does not come as it says.
    pub async fn read(&self, document: &str) -> Vec<String> {
        let text = fs::read_to_string(root().join(document)).expect("a document");
        let text = if self.kubeconfig.is_some() { elsewhere(&text) } else { text };
        let steps = console::steps(&text);
        assert!(!steps.is_empty(), "{document} has no console block");
        let printed = self.run("bash", ["-c", &console::script(&steps)]).await;
        console::differences(document, &steps, &printed.stdout)
    }

    async fn run<A: AsRef<OsStr>>(&self, program: &str, arguments: impl IntoIterator<Item = A>) -> Output {
        let path = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{path}", self.path("bin").display());
        let work = self.path("work");
        // A program of the place is named by its path below it; the path above is for all others.
        let program = [self.path("bin").join(program), work.join(program)].into_iter().find(|it| it.exists());
        let program = program.unwrap_or_else(|| PathBuf::from("bash"));
        let mut command = tokio::process::Command::new(program);
        command.args(arguments).current_dir(work).env_clear().stdin(Stdio::null()).kill_on_drop(true);
        command.env("PATH", path).env("HOME", self.home.path()).env("LANG", "C.UTF-8");
        command.env("OS_CLIENT_CONFIG_FILE", self.path("clouds.yaml")).env("OS_CLOUD", "mycloud");
        if let Some(kubeconfig) = &self.kubeconfig {
            command.env("KUBECONFIG", kubeconfig);
        }
        command.output().await.expect("a command").into()
    }
}

/// A document whose programs listen on ports that are free: those it names may be taken by the next checkout's run.
fn elsewhere(text: &str) -> String {
    let sockets = ["10250", "10251"].map(|named| (named, TcpListener::bind("127.0.0.1:0").expect("a free port")));
    sockets.iter().fold(text.to_owned(), |text, (named, socket)| {
        text.replace(named, &socket.local_addr().expect("its port").port().to_string())
    })
}
