"""The lab over plain HTTP: what stands under a name, in a form that can be compared, and how it goes away."""
import json
import os
import re
import urllib.error
import urllib.request

# What differs between two equal objects.
PASSING = {"id", "created_at", "updated_at", "revision_number", "port_id", "mac_address", "standard_attr_id", "etag"}


class Cloud:
    """The project of the lab's application credential."""

    def __init__(self):
        with open(os.environ["FABRIC_LAB_FACTS"], encoding="utf-8") as f:
            self.facts = json.load(f)
        credential = {"id": self.facts["application_credential_id"], "secret": self.facts["application_credential_secret"]}
        login = {"auth": {"identity": {"methods": ["application_credential"], "application_credential": credential}}}
        self.token = None
        _, headers = self.request("POST", f"{self.facts['auth_url']}/auth/tokens", login)
        self.token = headers["X-Subject-Token"]

    def request(self, method, url, body=None, good=()):
        headers = {"Content-Type": "application/json", "OpenStack-API-Version": "compute 2.2"}
        if self.token:
            headers["X-Auth-Token"] = self.token
        data = None if body is None else json.dumps(body).encode()
        try:
            with urllib.request.urlopen(urllib.request.Request(url, data, headers, method=method), timeout=120) as answer:
                content = answer.read()
                return json.loads(content) if content else {}, answer.headers
        except urllib.error.HTTPError as error:
            if error.code in good:
                return None, error.headers
            raise SystemExit(f"error: {method} {url}: {error.code} {error.read().decode(errors='replace')}") from None

    def neutron(self, method, path, body=None):
        return self.request(method, f"{self.facts['network']}/v2.0/{path}", body)[0]

    def key_pair_url(self, name):
        return f"{self.facts['compute']}/os-keypairs/{name}"

    def under(self, name):
        """Every object of this name, and the interfaces of its routers: lists by kind."""
        there = {kind: self.neutron("GET", f"{kind.replace('_', '-')}?name={name}&project_id={self.facts['project_id']}")[kind]
                 for kind in ("networks", "subnets", "routers", "security_groups")}
        there["ports"] = [port for router in there["routers"]
                          for port in self.neutron("GET", f"ports?device_id={router['id']}")["ports"]]
        pair, _ = self.request("GET", self.key_pair_url(name), good=(404,))
        there["keypairs"] = [pair["keypair"]] if pair else []
        return there

    def shape(self, name):
        """The same, without what two equal makings differ in."""
        there = self.under(name)
        for router in there["routers"]:
            for address in (router.get("external_gateway_info") or {}).get("external_fixed_ips", []):
                del address["ip_address"], address["subnet_id"]  # Neutron's choice
        text = json.dumps(there)
        for kind, objects in there.items():
            for thing in objects:
                if isinstance(thing.get("id"), str):  # a key pair counts
                    text = text.replace(thing["id"], f"<{kind}>")
        uid = re.search(f"osf:{re.escape(name)}/([^\" ]+)", text)
        text = text.replace(uid[1], "<uid>") if uid else text
        return settled(json.loads(text.replace(name, "<name>")))

    def remove(self, name):
        there = self.under(name)
        for router in there["routers"]:
            for port in there["ports"]:
                if port["device_owner"] == "network:router_interface" and port["device_id"] == router["id"]:
                    self.neutron("PUT", f"routers/{router['id']}/remove_router_interface", {"port_id": port["id"]})
        for kind in ("routers", "networks", "security_groups"):
            for thing in there[kind]:
                self.neutron("DELETE", f"{kind.replace('_', '-')}/{thing['id']}")
        if there["keypairs"]:
            self.request("DELETE", self.key_pair_url(name))


def settled(value):
    """Without passing fields, lists in one order."""
    if isinstance(value, dict):
        return {key: settled(item) for key, item in sorted(value.items()) if key not in PASSING}
    if isinstance(value, list):
        return sorted((settled(item) for item in value), key=lambda item: json.dumps(item, sort_keys=True))
    return value
