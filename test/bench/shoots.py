"""Shoots as people write them, of some 75 lines, in the five patterns; one in ten has something wrong."""
import random

PATTERNS = [  # what stands in networks
    "        workers: {workers}",
    "        id: {network}\n        workers: {workers}",
    "        id: {network}\n        router:\n          id: {router}\n        workers: {workers}",
    "        id: {network}\n        subnetId: {subnet}\n        router:\n          id: {router}",
    "        id: {network}\n        subnetId: {subnet}\n        router:\n          id: {router}\n        securityGroupId: {group}",
]

# What is replaced by what to make a Shoot wrong; the first that applies to its pattern.
MISTAKES = [
    [("        workers: {workers}", "        workers: 192.168.0.0/19"),  # not among the nodes
     ("\n        router:\n          id: {router}", "")],  # a subnet needs its router
    [("        subnetId: {subnet}", "        subnetId: my-subnet"), ("        workers: {workers}", "        workers: 10.250.0.0/33")],
    [("      floatingPoolName: {pool}", "      floatingPool: {pool}")],  # unknown field, and the right one is missing
    [("        id: {network}\n        subnetId", "        subnetId"), ("    nodes: {nodes}\n", "")],
]

SHOOT = """\
apiVersion: core.gardener.cloud/v1beta1
kind: Shoot
metadata:
  name: {name}
  namespace: garden-{project}
  annotations:
    shoot.gardener.cloud/cloud-config-execution-max-delay-seconds: "300"
spec:
  purpose: {purpose}
  region: {region}
  cloudProfile:
    kind: CloudProfile
    name: openstack
  credentialsBindingName: {project}-openstack
  kubernetes:
    version: "{kubernetes}"
    kubeAPIServer:
      requests:
        maxNonMutatingInflight: 800
        maxMutatingInflight: 400
    kubelet:
      maxPods: 110
  networking:
    type: {cni}
    nodes: {nodes}
    pods: {pods}
    services: 100.64.0.0/13
    ipFamilies:
    - IPv4
  provider:
    type: openstack
    infrastructureConfig:
      apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
      kind: InfrastructureConfig
      floatingPoolName: {pool}
      networks:
{networks}
    controlPlaneConfig:
      apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
      kind: ControlPlaneConfig
      loadBalancerProvider: amphora
      storage:
        csiManila:
          enabled: false
    workers:
    - name: worker-{size}
      machine:
        type: {size}.4.16
        architecture: amd64
        image:
          name: gardenlinux
          version: 1592.9.0
      minimum: 2
      maximum: {maximum}
      maxSurge: 1
      maxUnavailable: 0
      volume:
        size: 50Gi
      zones: # one is enough for a test
      - {region}a
      - {region}b
  addons:
    nginxIngress:
      enabled: false
  maintenance:
    timeWindow:
      begin: 220000+0100
      end: 230000+0100
    autoUpdate:
      kubernetes: true
      machineImageVersion: true
  hibernation:
    schedules:
    - start: "00 18 * * 1,2,3,4,5"
      location: Europe/Berlin
"""


def generate(count, seed=12):
    """The texts, and the sorted names of those with something wrong."""
    rng = random.Random(seed)
    texts, wrong = [], []
    for number in range(count):
        pattern = number % len(PATTERNS)
        form = SHOOT.replace("{networks}", PATTERNS[pattern])
        name = f"s{number:04}"
        if number % 10 == number // 10 % 10:  # one in ten, of every pattern
            form = spoil(form, MISTAKES[number // 10 % len(MISTAKES)])
            wrong.append(name)
        texts.append(form.format(
            name=name, project=f"team{number % 40:02}", purpose=rng.choice(["evaluation", "development", "production"]),
            region=rng.choice(["eu-de-1", "eu-de-2", "na-us-1"]), kubernetes=rng.choice(["1.33.5", "1.34.1"]),
            cni=rng.choice(["calico", "cilium"]), pods=f"100.{rng.randrange(96, 128)}.0.0/16", nodes="10.250.0.0/16",
            workers=f"10.250.{32 * rng.randrange(8)}.0/19", pool=rng.choice(["public", "FloatingIP-external-01"]),
            size=rng.choice(["g", "m", "c"]), maximum=rng.randrange(3, 50),
            **{kind: uuid(rng) for kind in ("network", "subnet", "router", "group")}))
    return texts, sorted(wrong)


def spoil(form, mistakes):
    for old, new in mistakes:
        if old in form:
            return form.replace(old, new, 1)
    raise ValueError("no mistake fits")


def uuid(rng):
    digits = f"{rng.getrandbits(128):032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
