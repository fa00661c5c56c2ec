"""Counts what goes to the lab's services: a proxy before each, known to clients by the catalog that passes through."""
import http.client
import http.server
import json
import os
import threading
import time
from urllib.parse import urlsplit

HOP = {"connection", "keep-alive", "transfer-encoding", "content-length", "host"}


class Counter:
    """`calls` lists what went through: (service, method, path, status, begun, ended), times since `clear`."""

    def __init__(self, facts):
        addresses = {"identity": facts["auth_url"], **{s: facts[s] for s in ("network", "compute", "share", "load_balancer")}}
        self.calls, self.zero, self.lock = [], time.perf_counter(), threading.Lock()
        self.servers, self.ports = [], {}
        for service, url in addresses.items():
            port = urlsplit(url).port
            server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler(self, service, port))
            server.daemon_threads = True
            threading.Thread(target=server.serve_forever, daemon=True).start()
            self.servers.append(server)
            self.ports[port] = server.server_port

    def rewrite(self, text):
        """Addresses of the services become ours."""
        for real, ours in self.ports.items():
            text = text.replace(f"127.0.0.1:{real}", f"127.0.0.1:{ours}")
        return text

    def clear(self):
        with self.lock:
            self.calls.clear()
            self.zero = time.perf_counter()

    def tokens(self):
        return sum(call[:3] == ("identity", "POST", "/v3/auth/tokens") for call in self.calls)

    def requests(self):
        """Requests, logins apart."""
        return len(self.calls) - self.tokens()

    def close(self):
        for server in self.servers:
            server.shutdown()
            server.server_close()


def handler(counter, service, port):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        upstream = None

        def forward(self):
            begun = time.perf_counter()
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {k: v for k, v in self.headers.items() if k.lower() not in HOP | {"accept-encoding"}}
            if self.upstream is None:
                self.upstream = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
            self.upstream.request(self.command, self.path, body or None, headers)
            answer = self.upstream.getresponse()
            content = answer.read()
            if "json" in answer.headers.get("Content-Type", ""):
                content = counter.rewrite(content.decode()).encode()
            ended = time.perf_counter()
            with counter.lock:
                path = urlsplit(self.path).path
                counter.calls.append((service, self.command, path, answer.status, begun - counter.zero, ended - counter.zero))
            self.send_response_only(answer.status, answer.reason)
            for key, value in answer.headers.items():
                if key.lower() not in HOP:
                    self.send_header(key, counter.rewrite(value))
            if answer.status not in (204, 304):
                self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = do_PATCH = forward  # noqa: N815

        def log_message(self, *_):
            pass

    return Handler


def clouds_through(counter, work):
    """A clouds.yaml whose logins go through the counter."""
    with open(os.environ["OS_CLIENT_CONFIG_FILE"], encoding="utf-8") as f:
        text = counter.rewrite(f.read())
    folder = os.path.join(work, "counted")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "clouds.yaml")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def dump(calls):
    return "\n".join(f"    {b:7.3f} {e - b:6.3f} {service:8} {method:6} {status} {path}"
                     for service, method, path, status, b, e in sorted(calls, key=lambda call: call[4]))


def load_facts():
    with open(os.environ["FABRIC_LAB_FACTS"], encoding="utf-8") as f:
        return json.load(f)
