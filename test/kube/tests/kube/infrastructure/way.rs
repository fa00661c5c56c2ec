//! A way to the lab's apiserver that can be cut, closed, or made to hang, for one program alone.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fabric_test_kube::Garden;
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// What becomes of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// Bytes pass.
    Pass,
    /// Those that are there end; the number tells one order from the next.
    Cut(u64),
    /// Those that are there stay, and no byte passes.
    Hang(u64),
}

/// The way. It is closed when this goes.
pub(crate) struct Way {
    kubeconfig: PathBuf,
    order: watch::Sender<Order>,
    is_open: Arc<AtomicBool>,
    _connections: JoinSet<()>,
}

impl Drop for Way {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.kubeconfig);
    }
}

impl Way {
    /// To the apiserver of a garden, as its administrator.
    pub(crate) async fn to_the_apiserver(garden: &Garden) -> Self {
        let told = garden.kubectl(["config", "view", "--raw", "-o", "json"]).await.ends_with(0);
        let mut config: Value = serde_json::from_str(&told.stdout).unwrap();
        let server = config["clusters"][0]["cluster"]["server"].as_str().unwrap().to_owned();
        let there = server.trim_start_matches("https://").to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        // The apiserver's certificate is good for every port of this address.
        config["clusters"][0]["cluster"]["server"] = format!("https://{}", listener.local_addr().unwrap()).into();
        let kubeconfig = std::env::temp_dir().join(format!("{}.way", garden.namespace));
        std::fs::write(&kubeconfig, config.to_string()).unwrap();
        let order = watch::Sender::new(Order::Pass);
        let is_open = Arc::new(AtomicBool::new(true));
        let mut connections = JoinSet::new();
        connections.spawn(serve(listener, there, order.clone(), Arc::clone(&is_open)));
        Self { kubeconfig, order, is_open, _connections: connections }
    }

    /// What leads over this way.
    pub(crate) fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// All connections end; new ones are taken.
    pub(crate) fn cut(&self) {
        self.give(Order::Cut);
    }

    /// All connections end, and new ones are refused until it is opened.
    pub(crate) fn close(&self) {
        self.is_open.store(false, Ordering::SeqCst);
        self.cut();
    }

    /// All connections stay, and no byte passes on them any more; new ones are as good as ever.
    pub(crate) fn hang(&self) {
        self.give(Order::Hang);
    }

    /// New connections are taken.
    pub(crate) fn open(&self) {
        self.is_open.store(true, Ordering::SeqCst);
    }

    fn give(&self, order: fn(u64) -> Order) {
        self.order.send_modify(|last| {
            let number = match *last {
                Order::Pass => 0,
                Order::Cut(number) | Order::Hang(number) => number,
            };
            *last = order(number + 1);
        });
    }
}

async fn serve(listener: TcpListener, there: String, order: watch::Sender<Order>, is_open: Arc<AtomicBool>) {
    let mut connections = JoinSet::new();
    while let Ok((mut caller, _)) = listener.accept().await {
        if !is_open.load(Ordering::SeqCst) {
            continue;
        }
        let there = there.clone();
        // Orders from now on are for this connection.
        let mut orders = order.subscribe();
        connections.spawn(async move {
            let Ok(mut server) = TcpStream::connect(there).await else { return };
            let given = tokio::select! {
                _ = tokio::io::copy_bidirectional(&mut caller, &mut server) => return,
                changed = orders.changed() => changed.map(|()| *orders.borrow_and_update()),
            };
            if matches!(given, Ok(Order::Hang(_))) {
                // Both ends stay as they are until the way goes.
                std::future::pending::<()>().await;
            }
        });
    }
}
