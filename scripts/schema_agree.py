"""schema_agree.py PROGRAM FOLDER - the schema of `PROGRAM schema`, as an independent validator reads
it, against the parser of `PROGRAM check`: shipped scenarios with changes that both must accept, and
changes that both must refuse. The files stay in FOLDER. Last line: N passed, N failed.

Left out, for a schema cannot see it:
- what several keys must satisfy together (warm-up within the horizon, whole NICs, one GPU model,
  a component's rate, an interval for policy fixed), names of layouts and of the catalog's entries
- keys of a scheduler that is not chosen; names of nodes, partitions and jobs; one action an event
- ranges of quantities with a unit (0s for a bin, 1 B/s to 1 EB/s)
- how YAML spells a value: 08 and 0x10 are numbers to its readers and refused by the parser, "8" in
  quotes is a text to them and a number to the parser; keys that stand twice, tags, tabs, anchors
- notes of the catalog in a type written inline, which the parser takes
- files that are missing, and what the trace holds; what an included file gives below the first level
"""

import copy
import os
import pathlib
import random
import re
import subprocess
import sys

import jsonschema
import yaml

SHIPPED = ("tiny", "eight_gpus", "ten_servers", "dense_vs_sparse")
COUNT = 100


class Raw(str):
    """A number as it is to be spelled: 1e3."""


# ---- YAML 1.2 core: what editors use. PyYAML alone is 1.1, where no is false and 1:30 is 90. ----

CORE = (
    ("tag:yaml.org,2002:null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("tag:yaml.org,2002:bool", r"^(?:true|True|TRUE|false|False|FALSE)$", list("tTfF")),
    ("tag:yaml.org,2002:int", r"^[-+]?[0-9]+$", list("-+0123456789")),
    ("tag:yaml.org,2002:float", r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$",
     list("-+.0123456789")),
)


class Loader(yaml.SafeLoader):
    yaml_implicit_resolvers = {}


class Dumper(yaml.SafeDumper):
    yaml_implicit_resolvers = {}

    def ignore_aliases(self, data):
        return True


for tag, pattern, first in CORE:
    for kind in (Loader, Dumper):
        kind.add_implicit_resolver(tag, re.compile(pattern), first)
Loader.add_constructor("tag:yaml.org,2002:int", lambda self, node: int(node.value))
Loader.add_constructor("tag:yaml.org,2002:float", lambda self, node: float(node.value))
Loader.add_constructor(
    "tag:yaml.org,2002:map",
    lambda self, node: {key.value: self.construct_object(value, deep=True)
                        for key, value in node.value})
Dumper.add_representer(
    Raw, lambda self, data: self.represent_scalar("tag:yaml.org,2002:float", str(data)))


# ---- changes ----

def place(tree, path):
    """The map that holds the last part of a path, made on the way, and that part."""
    parts = path.split(".")
    for part in parts[:-1]:
        at = int(part) if isinstance(tree, list) else part
        if isinstance(tree, dict) and not isinstance(tree.get(at), (dict, list)):
            tree[at] = {}
        tree = tree[at]
    return tree, int(parts[-1]) if isinstance(tree, list) else parts[-1]


def put(path, value):
    def change(tree):
        at, key = place(tree, path)
        at[key] = copy.deepcopy(value)
    change.label = f"{path} = {value!r}"
    return change


def drop(path):
    def change(tree):
        at, key = place(tree, path)
        del at[key]
    change.label = f"{path} left out"
    return change


def layouts_as_map(tree):
    tree["layouts"] = {"list": tree["layouts"]}


layouts_as_map.label = "layouts as a map"


def inline_link(tree):
    tree["layouts"][0]["fabric"]["link"] = dict(INLINE_LINK)
    tree["allow_different"] = ["fabric"]


def all_included(tree):
    tree.clear()
    tree.update(include=["rest.yaml"], seed=4)


all_included.label = "all but the seed from an included file"
inline_link.label = "a link written inline"

INLINE_SERVER = {"gpu": "h100", "gpus": 8, "nics": 8, "nic": "48.5 GB/s", "scaleup": "450 GB/s"}
INLINE_LINK = {"rate": "400Gb/s", "hop": "14us", "switch_ports": 64}
PROFILE = {"kappa_one": 0.1, "kappa_many": 0.2, "hidden": "30%", "size": "1 GiB", "spread": 0}

GOOD = [put("seed", v) for v in (0, 7, Raw("1e3"), Raw("8.0"), 9000000000000000000, None)]
GOOD += [put("question", v) for v in ("one: two # three", "", 12, True, None)]
GOOD += [put("detail", v) for v in ("none", "first", "all")]
GOOD += [put("name", v) for v in ("x", "a-b_c.d", 42, "Müller")]
GOOD += [put("replicas", v) for v in (1, 20, Raw("2e1"), {"count": 3, "resample": "none"}, {})]
GOOD += [put("replicas", {"until": v}) for v in (
    {}, {"metric": "wait_s_p95", "half_width": "1%", "max": 50}, {"half_width": 0.02})]
GOOD += [put("time.curve_bin", v) for v in ("30m", "600s", "0:30:00", "1h", "60 m", "0.5h", None)]
GOOD += [put("workload.startup", v) for v in (
    "0s", "90s", "1h30m", "1 h 30 m", "2d", "500ms", "3.4us", "10ns", "1d2h3m4s5ms6us7ns", "1:30:00",
    "1-02:03:04", "1e3s", ".5h", "5.h", "+5m", None)]
GOOD += [put("workload.shape", v) for v in ("model", "recorded", "free")]
GOOD += [put("workload.slack", v) for v in (0, 3, "any", [0, "any"], [0, 1, 2, 3], None)]
GOOD += [put("workload.kill_at_limit", v) for v in (True, False)]
GOOD += [put("workload.limit_factor", v) for v in (1, 2.5, Raw("1e2"), 1000)]
GOOD += [put("workload.communication", v) for v in (
    "none", "by_size", "by_model_mix", "llm7b", {"kind": "by_size", "scale": 2}, PROFILE,
    dict(PROFILE, allreduce="best"), {"scale": 0}, None)]
GOOD += [put("workload.trace.contains", v) for v in ([], ["startup"], ["stalls", "checkpoint"])]
GOOD += [put("workload.trace.recorded_on", v) for v in (
    "none", {"server": INLINE_SERVER, "count": 4}, {"server": "dgx-h100", "count": 40})]
GOOD += [put("scheduler.plain.order", v) for v in ("fcfs", "easy")]
GOOD += [put("scheduler.plain.placement", v) for v in ("pack", "spread")]
GOOD += [put("scheduler", v) for v in ({}, None, {"kind": "plain"})]
GOOD += [put("failures", v) for v in (
    "none", "llama3", {"rates": "llama3", "gpu": "none"}, {"gpu": {"mtbf": "50000h"}},
    {"server": {"rate": "3e-4/day", "repair_median": "2h", "repair_p95": "1d"}},
    {"link": {"law": "weibull", "shape": 0.8, "rate": "0.09/year"}},
    {"leaf": {"law": "none"}, "drain": "now", "detection": "5m"}, None)]
GOOD += [put("checkpoint", v) for v in (
    "none", {"policy": "daly", "store": "40 GB/s"}, {"policy": "young", "store": "3.2Tb/s"},
    {"interval": "30m", "store": "400Gbps", "size": "80 GiB"},
    {"interval": "2h", "store": "1GiB/s", "per_server": "12GBps", "size": "by_class"},
    {"interval": "1h", "store": "40 GB/s", "per_server": "nics", "size": "512 B"})]
GOOD += [put("layouts.0.servers.type", v) for v in ({"like": "dgx-h100"}, {
    "like": "dgx-h100", "nics": 8, "memory": "1 TiB", "max": "10.2kW", "idle": "700 W"})]
GOOD += [put("layouts.0.servers", v) for v in (
    [{"type": "hgx-h100-8", "count": 2, "names": "n[0-1]"}, {"type": "hgx-h100-8", "count": 1}],
    {"type": "hgx-h100-8", "count": 2, "sockets": 4, "cores": 64, "memory": "1 TB", "gpu_type": "h100"},
    {"type": "hgx-h100-8", "count": 2, "sharing": "none", "nodes_per_server": 2})]
GOOD += [put("layouts.0.fabric.oversubscription", v) for v in (1, 2, 1.5)]
GOOD += [put("layouts.0.fabric.nics_per_gpu", v) for v in (1, 1.0, None)]
GOOD += [inline_link, layouts_as_map, all_included, put("include", "rest.yaml")]
GOOD += [put("allow_different", v) for v in ([], ["gpu"], ["gpu", "fabric"])]
GOOD += [put("verdict", v) for v in ({"tornado": False}, {"tornado_replicas": 2}, None)]
GOOD += [drop(path) for path in ("question", "seed", "time.warmup", "scheduler", "failures",
                                 "workload.shape", "workload.communication", "baseline")]

WRONG_KINDS = {  # values of no form that a key of this type has
    "duration": (5, "5", "", "3 weeks", "1M", "1:30", "-5m", "1m1h", "5 GB", True, ["1h"], {"h": 1}),
    "bandwidth": (40, "40", "40 GB", "40 gb/s", "40 Kb/s", "-1 GB/s", False, ["1 GB/s"]),
    "size": (80, "80 Gb", "80 KB", "80 kiB", "80 mB", "1 GB/s", {"GB": 1}),
    "rate": (3, "3", "3/month", "3/m", "-1/day", "3 per day"),
    "power": (700, "700", "700 Wh", "0.7 GW", "700 w"),
    "count": (-1, 2.5, "two", "1_000", "1,000", "8 GPUs", True, [1], {"count": 1}),
    "number": (-1, "two", "1_5", "1 5", "5h", True, [1]),
    "share": (-0.1, 1.5, 50, "150%", "50 %", "half", True),
    "bool": ("yes", "no", "on", 0, 1, "TruE", []),
    "word": ("", "nonesuch", 1, True, ["easy"], {"a": 1}),
    "text": (["a"], {"a": 1}),
    "map": ("text", 5, True, [1]),
}
TYPED = [
    ("duration", ("time.horizon", "time.curve_bin", "workload.startup", "failures.detection",
                  "checkpoint.interval", "time.follow")),
    ("bandwidth", ("checkpoint.store", "checkpoint.per_server")), ("size", ("checkpoint.size",)),
    ("count", ("seed", "layouts.0.servers.count", "replicas.count", "gpuplan", "workload.slack")),
    ("number", ("workload.limit_factor", "failures.scale", "layouts.0.fabric.oversubscription",
                "layouts.0.fabric.nics_per_gpu")),
    ("share", ("failures.server_growth",)), ("bool", ("workload.kill_at_limit", "verdict.tornado")),
    ("word", ("scheduler.plain.order", "workload.shape", "detail", "failures.drain",
              "layouts.0.fabric.type", "scheduler.kind", "replicas.resample")),
    ("text", ("name", "question", "baseline")),
    ("map", ("time", "scheduler", "workload", "verdict", "layouts.0")),
]
NEEDED = ("gpuplan", "name", "layouts", "layouts.0.name", "layouts.0.servers", "layouts.1.fabric",
          "layouts.0.servers.type", "layouts.1.servers.count", "layouts.0.fabric.link",
          "workload.trace.recorded_on")
UNKNOWN = ("sed", "time.horizont", "time.curve-bin", "workload.traces", "workload.trace.path",
           "layouts.0.count", "layouts.1.fabric.nics", "scheduler.policy", "failures.gpus",
           "checkpoint.every", "layouts.0.servers.gpus", "verdict.tornados", "Name")
NOT_BUILT = (put("workload.growth", "4%/month"), put("sweep", {}))
ODD = (  # other breaches that stand at one key
    put("seed", 9223372036854775807), put("replicas.count", 10001), put("replicas", 0),
    put("gpuplan", 2), put("include", {"file": "a.yaml"}), put("workload.limit_factor", 0.5), put("failures.scale", Raw("1e7")),
    put("name", "x" * 64), put("name", ""), put("name", "a\nb"), put("name", None),
    put("workload.slack", []), put("workload.slack", [0, 0]), put("workload.slack", [0, 1, 2, 3, 4]),
    put("workload.trace.contains", ["startup", "startup"]), put("workload.trace.contains", "all"),
    put("workload.trace.recorded_on", 5), put("allow_different", ["power"]), put("layouts", []),
    put("layouts", "none"), put("gates", [{"metric": "yield", "layout": "x"}]), put("gates", {}),
    put("gates", [{"metric": "yield", "layout": "x", "below": "4 hours"}]),
    put("replicas", {"count": 5, "until": {"max": 20}}), put("replicas", {"until": 20}),
    put("replicas", {"until": {"metric": "luck"}}), put("replicas", {"until": {"max": 0}}),
    put("failures.gpu", {"rate": "3/day", "mtbf": "8h"}), put("failures.gpu", "llama3 "),
    put("failures.gpu", {"law": "gauss", "mtbf": "8h"}), put("failures.link", {"rate": "3"}),
    put("workload.communication", {"kappa_one": 0.1}), put("workload.communication", dict(
        PROFILE, kind="by_size")), put("workload.communication", dict(PROFILE, hidden="130%")),
    put("layouts.0.servers.type", {"gpu": "h100", "gpus": 8}),
    put("layouts.0.servers.type", dict(INLINE_SERVER, gpus=33)), put("layouts.0.servers", []),
    put("layouts.0.servers", [{"type": "hgx-h100-8", "count": 2}, {"type": "hgx-h100-8"}]),
    put("layouts.0.servers", {"type": "hgx-h100-8", "count": 2, "sharing": {"kind": "halves"}}),
    put("layouts.0.servers", {"type": "hgx-h100-8", "count": 2, "links": "none"}),
    put("layouts.0.servers.type", dict(INLINE_SERVER, nic="48 GB")),
    put("layouts.0.servers.type", dict(INLINE_SERVER, max="10 kWh")),
    put("layouts.0.fabric.link", dict(INLINE_LINK, switch_ports=1)),
    put("layouts.0.fabric.link", {"hop": "14us"}), put("layouts.0.fabric.link", ["ib-ndr400"]),
)


SLURM_GOOD = [{"kind": "slurm", "slurm": value} for value in (
    {}, None, {"compat": "22.05"}, {"compat": Raw("26.05"), "second_of_minute": 26},
    {"SchedulerType": "sched/builtin", "SchedulerParameters": "bf_interval=30,bf_window=2880"},
    {"SelectTypeParameters": ["CR_Core_Memory", "CR_LLN"], "DefMemPerGPU": 30000, "DefMemPerCPU": "2G"},
    {"PriorityMaxAge": "1-0", "PriorityCalcPeriod": 5, "PriorityDecayHalfLife": "7-00:00:00"},
    {"PriorityType": "priority/multifactor", "PriorityFavorSmall": "YES", "PriorityWeightAge": 1000},
    {"PreemptType": "preempt/qos", "PreemptMode": "SUSPEND,GANG", "JobRequeue": 0, "RequeueExit": 42},
    {"SuspendTime": -1, "SlurmdTimeout": "5m", "victims_gone": "4s"},
    {"partitions": [{"name": "a", "Default": "YES", "MaxTime": "UNLIMITED", "OverSubscribe": "FORCE:1"},
                    {"name": "b", "MaxTime": 60, "MaxNodes": 2, "State": "DOWN", "LLN": "NO"}]},
    {"qos": [{"name": "a", "GrpTRES": "gres/gpu=8,cpu=64,mem=100G", "GrpJobs": 3, "Flags": "DenyOnLimit"}]},
    {"associations": [{"account": "lab", "fairshare": 3}, {"account": "lab", "user": "ada"}]},
    {"reservations": [{"name": "r", "flags": ["MAINT"], "duration": "1h", "start": "90s"}]})]
SLURM_BAD = [{"kind": "slurm", "slurm": value} for value in (
    {"compat": "23.02"}, {"SchedulerTyp": "sched/builtin"}, {"Licenses": "matlab:3"},
    {"PriorityMaxAge": "soon"}, {"PriorityMaxAge": "1-25"}, {"DefMemPerGPU": "30 GX"},
    {"JobRequeue": "yes"}, {"SlurmdTimeout": "5 minutes"}, {"PriorityWeightAge": -1},
    {"partitions": []}, {"partitions": [{"nodes": "ALL"}]}, {"partitions": [{"name": "a", "LLN": True}]},
    {"partitions": [{"name": "a", "AllowGroups": "x"}]}, {"qos": [{"name": "a", "GrpTRES": "gres/gpu"}]},
    {"qos": {"name": "a"}}, {"reservations": [{"name": "r"}]}, {"SelectType": "select/linear"})]
KUBE_GOOD = [{"kind": "kubernetes", "kubernetes": value} for value in (
    {}, {"gang": "coscheduling", "podMaxBackoffSeconds": 20}, {"preemption": False, "backoffLimit": 0},
    {"profile": {"NodeResourcesFit": {"scoringStrategy": "MostAllocated"}, "weights": {"NodeAffinity": 0}}},
    {"profile": {"NodeResourcesBalancedAllocation": [{"name": "cpu"}], "percentageOfNodesToScore": 30}},
    {"gang": "volcano", "topology": [{"name": "rack", "nodes": 4}, {"name": "host", "nodes": 1}]},
    {"nodeMonitorGracePeriod": "40s", "podReplacementPolicy": "Failed", "tolerationSeconds": 60})]
KUBE_BAD = [{"kind": "kubernetes", "kubernetes": value} for value in (
    {"gang": "none of them"}, {"profile": {"weights": {"PodTopologySpread": 2}}}, {"preemption": "no"},
    {"profile": {"NodeResourcesFit": {"scoringStrategy": {"resources": [{"name": "gpu"}]}}}},
    {"topology": [{"nodes": 4}]}, {"backoffLimit": -1}, {"clusterQueues": [{"cohort": "a"}]},
    {"tolerationSeconds": "long"}, {"autoscaler": {"expander": "random"}})]


def scheduled(value):
    """Another scheduler, and the keys away that it does not know."""
    def change(tree):
        for key in ("shape", "slack"):
            tree["workload"].pop(key, None)
        tree["scheduler"] = copy.deepcopy(value)
    change.label = f"scheduler = {value!r}"
    return change


def with_jobs(jobs, events=None):
    def change(tree):
        tree.update(time={"horizon": "all"}, replicas=1, workload={"communication": "none"})
        tree["jobs"] = copy.deepcopy(jobs)
        if events is not None:
            tree["events"] = events
    change.label = f"jobs = {jobs!r}, events = {events!r}"
    return change


ONE = {"run": "90s", "gpus": 1}
GOOD += [scheduled(value) for value in SLURM_GOOD + KUBE_GOOD]
GOOD += [with_jobs([dict(ONE, **more)]) for more in (
    {}, {"id": 7, "name": "x", "at": "1h", "time": "1:00:00"}, {"user": "ada", "movable": False},
    {"gpus": 0, "ntasks": 4, "cpus_per_task": 2, "mem": "8G"}, {"time": "UNLIMITED"})]
GOOD += [with_jobs([ONE], [{"at": "5s", "scancel": "1"}]), with_jobs([ONE], []),
         with_jobs([{"run": "1s", "gpu_milli": 500, "resources": {"cpu": "500m", "memory": "1Gi"}}])]


def bad_changes():
    changes = list(NOT_BUILT) + list(ODD) + [drop(path) for path in NEEDED]
    changes += [scheduled(value) for value in SLURM_BAD + KUBE_BAD]
    changes += [with_jobs([dict(ONE, **more)]) for more in (
        {"run": 90}, {"at": "soon"}, {"gpu": 1}, {"run": None}, {"gpus": [1]}, {"time": "1:30"},
        {"ntasks": -1}, {"mem": "8 GX"}, {"movable": "no"})]
    changes += [with_jobs([]), with_jobs({"run": "90s"}), with_jobs([5]),
                with_jobs([ONE], [{"scancel": "1"}]), with_jobs([ONE], [{"at": "5s", "kill": "1"}])]
    changes += [put(path, value) for path in UNKNOWN for value in (1, None)]
    for kind, paths in TYPED:
        changes += [put(path, value) for path in paths for value in WRONG_KINDS[kind]]
    return changes


def legal_here(change):
    """Wrong for most keys of a type, right for this one."""
    return change.label == "workload.slack = [1]"


# ---- the two judges ----

def parser_says(program, path):
    """Whether it is accepted, and why not; an exit code but 0 and 2 ends everything."""
    done = subprocess.run([program, "check", str(path)], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=60, check=False)
    if done.returncode not in (0, 2):
        sys.exit(f"check {path} ended with {done.returncode}: {done.stderr}")
    return done.returncode == 0, done.stderr.strip().splitlines()


def schema_says(validator, path):
    problems = sorted(validator.iter_errors(yaml.load(path.read_text(), Loader)), key=str)
    return not problems, [problem.message[:200] for problem in problems]


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "traces").exists():
        os.symlink(os.path.abspath("scenarios/traces"), folder / "traces")
    (folder / "rest.yaml").write_text(pathlib.Path("scenarios/tiny.yaml").read_text())
    schema = yaml.safe_load(subprocess.run([program, "schema"], stdin=subprocess.DEVNULL,
                                           capture_output=True, text=True, check=True).stdout)
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    shipped = {name: yaml.load(pathlib.Path(f"scenarios/{name}.yaml").read_text(), Loader)
               for name in SHIPPED}
    draw = random.Random(2026)
    good, bad = GOOD[:], [change for change in bad_changes() if not legal_here(change)]
    draw.shuffle(good)
    draw.shuffle(bad)
    passed = failed = 0

    def judge(name, want, tree, label):
        nonlocal passed, failed
        path = folder / f"{name}.yaml"
        path.write_text(yaml.dump(tree, Dumper=Dumper, allow_unicode=True, sort_keys=False))
        parser, parser_why = parser_says(program, path)
        validated, schema_why = schema_says(validator, path)
        if parser == validated == want:
            passed += 1
            return
        failed += 1
        words = {True: "good", False: "bad"}
        print(f"FAILED {name} ({label}): meant {words[want]}, the parser says {words[parser]}, "
              f"the schema {words[validated]}")
        for line in (parser_why + schema_why)[:4]:
            print("       " + line)

    for name, tree in shipped.items():
        judge(f"shipped_{name}", True, tree, "as shipped")
    for word, want, changes in (("good", True, good), ("bad", False, bad)):
        for i in range(COUNT):
            tree = copy.deepcopy(shipped[SHIPPED[i % len(SHIPPED)]])
            change = changes[i % len(changes)]
            change(tree)
            judge(f"{word}_{i:03}", want, tree, change.label)
    print(f"{len(good)} good and {len(bad)} bad changes known, {COUNT} of each drawn")
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
