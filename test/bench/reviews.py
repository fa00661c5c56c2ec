"""Reviews as an API server of a busy garden sends them, and the garden around: one in ten is to be refused."""
import base64
import copy
import json
import random

CORE = "core.gardener.cloud/v1beta1"
SECURITY = "security.gardener.cloud/v1alpha1"
CONFIG = "openstack.provider.extensions.gardener.cloud/v1alpha1"
VALIDATE, SECRETS = "/webhooks/validate", "/webhooks/validate/secrets"
PROJECTS = 5
# Of each twenty reviews so many are about: Shoots first, since each of their changes is one.
MIX = ["Shoot"] * 10 + ["CloudProfile"] * 2 + ["Secret"] * 4 + ["CredentialsBinding"] * 2 + ["SecretBinding"] * 2


def named(api_version, kind, name, namespace=None, **more):
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **more}


def secret(name, namespace):
    data = {"domainName": "demo", "tenantName": "demo", "username": "demo", "password": "demo"}
    labels = {"provider.shoot.gardener.cloud/openstack": "true"}
    made = named("v1", "Secret", name, namespace, type="Opaque",
                 data={key: base64.b64encode(value.encode()).decode() for key, value in data.items()})
    made["metadata"]["labels"] = labels
    return made


def profile(name, cloud):
    versions = [{"version": f"{major}.0.0"} for major in range(1, 6)]
    images = [{"name": name, "versions": versions} for name in ("linux", "flat")]
    config = {"apiVersion": CONFIG, "kind": "CloudProfileConfig", "keystoneURL": cloud["auth_url"],
              "constraints": {"floatingPools": [{"name": "public"}, {"name": "fip-*"}],
                              "loadBalancerProviders": [{"name": "amphora"}, {"name": "ovn"}]},
              "dnsServers": ["192.0.2.53"], "serverGroupPolicies": ["anti-affinity", "soft-anti-affinity"],
              "machineImages": [{**image, "versions": [{**version, "image": f"{image['name']}-{version['version']}"}
                                                       for version in versions]} for image in images]}
    return named(CORE, "CloudProfile", name,
                 spec={"type": "openstack", "regions": [{"name": "RegionOne"}], "machineImages": images,
                       "kubernetes": {"versions": [{"version": "1.34.1"}]},
                       "machineTypes": [{"name": f"m{n}", "cpu": str(n), "gpu": "0", "memory": f"{4 * n}Gi"}
                                        for n in (1, 2, 4, 8)],
                       "providerConfig": config})


def credentials_binding(name, namespace, to):
    return named(SECURITY, "CredentialsBinding", name, namespace, provider={"type": "openstack"},
                 credentialsRef={"apiVersion": "v1", "kind": "Secret", "name": to, "namespace": namespace})


def secret_binding(name, namespace, to):
    return named(CORE, "SecretBinding", name, namespace, provider={"type": "openstack"},
                 secretRef={"name": to, "namespace": namespace})


def shoot(name, namespace, networks):
    worker = {"minimum": 1, "maximum": 3, "machine": {"type": "m2", "image": {"name": "linux", "version": "1.0.0"}},
              "volume": {"type": "ssd", "size": "50Gi"}, "zones": ["nova"]}
    provider = {
        "type": "openstack",
        "infrastructureConfig": {"apiVersion": CONFIG, "kind": "InfrastructureConfig", "floatingPoolName": "public",
                                 "networks": networks},
        "controlPlaneConfig": {"apiVersion": CONFIG, "kind": "ControlPlaneConfig", "loadBalancerProvider": "amphora"},
        "workers": [{"name": f"worker-{number}", **worker} for number in range(2)],
    }
    return named(CORE, "Shoot", name, namespace, spec={
        "purpose": "production", "region": "RegionOne", "cloudProfile": {"kind": "CloudProfile", "name": "openstack"},
        "credentialsBindingName": "openstack", "kubernetes": {"version": "1.34.1", "kubelet": {"maxPods": 110}},
        "networking": {"type": "calico", "nodes": "10.250.0.0/16", "pods": "100.96.0.0/11",
                       "services": "100.64.0.0/13", "ipFamilies": ["IPv4"]},
        "maintenance": {"timeWindow": {"begin": "220000+0100", "end": "230000+0100"}}, "provider": provider})


def garden(projects, cloud):
    """What reviews refer to."""
    made = [profile("openstack", cloud)]
    for project in projects:
        made += [secret("keys", project), credentials_binding("openstack", project, "keys")]
    return made


def spoil(made):
    """The same with something wrong."""
    made = copy.deepcopy(made)
    match made["kind"]:
        case "Shoot":
            made["spec"]["provider"]["infrastructureConfig"]["networks"] = {"subnetId": "my-subnet"}
        case "CloudProfile":
            made["spec"]["providerConfig"]["constraints"]["floatingPools"] = []
        case "Secret":
            del made["data"]["password"]
        case "CredentialsBinding":
            made["credentialsRef"]["name"] = "lost"
        case "SecretBinding":
            made["secretRef"]["name"] = "lost"
    return made


def make(kind, number, projects, cloud):
    project = projects[number % len(projects)]
    given = {"id": cloud["network"], "subnetId": cloud["subnet"], "router": {"id": cloud["router"]}}
    match kind:
        case "Shoot":
            return shoot(f"shoot-{number}", project, given if number % 2 else {"workers": "10.250.0.0/19"})
        case "CloudProfile":
            return profile(f"profile-{number}", cloud)
        case "Secret":
            return secret(f"keys-{number}", project)
        case "CredentialsBinding":
            return credentials_binding(f"binding-{number}", project, "keys")
        case "SecretBinding":
            return secret_binding(f"binding-{number}", project, "keys")


def generate(count, projects, cloud):
    """Lines for the load: half of the Shoots, profiles and secrets are changed, all else is new."""
    dice, lines = random.Random(11), []
    for number in range(count):
        kind = MIX[number % len(MIX)]
        old, new = None, make(kind, number, projects, cloud)
        if number % 3 == 0 and kind in ("Shoot", "CloudProfile", "Secret"):
            old, new = new, copy.deepcopy(new)
            change(new)
        wrong = number % 10 == number // 10 % 10  # one in ten, of every kind
        lines.append({"path": SECRETS if kind == "Secret" else VALIDATE, "allowed": not wrong,
                      "review": review(spoil(new) if wrong else new, old, number)})
    dice.shuffle(lines)
    return lines


def change(made):
    match made["kind"]:
        case "Shoot":
            made["spec"]["provider"]["workers"][0]["maximum"] = 9
            made["spec"]["provider"]["controlPlaneConfig"]["loadBalancerProvider"] = "ovn"
        case "CloudProfile":
            made["spec"]["providerConfig"]["dnsServers"].append("192.0.2.54")
        case "Secret":
            made["data"]["username"] = "b3RoZXI="


def review(new, old, number):
    group, _, version = new["apiVersion"].rpartition("/")
    kind = {"group": group, "version": version, "kind": new["kind"]}
    resource = {"group": group, "version": version, "resource": new["kind"].lower() + "s"}
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": f"00000000-0000-4000-8000-{number:012}", "kind": kind, "resource": resource, "requestKind": kind,
        "requestResource": resource, "name": new["metadata"]["name"],
        **({"namespace": new["metadata"]["namespace"]} if "namespace" in new["metadata"] else {}),
        "operation": "UPDATE" if old else "CREATE", "userInfo": {"username": "dev", "groups": ["system:authenticated"]},
        "object": new, "oldObject": old, "dryRun": False, "options": None}}


def write(lines, path):
    with open(path, "w", encoding="utf-8") as f:
        f.writelines(json.dumps(line) + "\n" for line in lines)
