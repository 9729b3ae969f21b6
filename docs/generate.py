"""Write the parts of docs/*.md that follow from the code: `make docs`.

A part stands between `<!-- generated: NAME -->` and `<!-- end -->`; what is around it is written
by hand.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import click
from pathscope import analyze
from pathscope.analyzer.quantities import QUANTITIES
from pathscope.analyzer.rulebook import RULEBOOK, Rule
from pathscope.cli import main as command_line
from pathscope.dissectors import index, ledger
from pathscope.replay.lab.derived import NUMBERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

DOCS = Path(__file__).parent
CAPTURES = DOCS.parent / "fixtures" / "captures"
REPORTS = DOCS.parent / "reports"
SCHEMA = REPORTS / "result.schema.json"
COMPARE_SCHEMA = REPORTS / "compare" / "compare.schema.json"
STORY_SCHEMA = REPORTS / "story.schema.json"
REPLAY = DOCS.parent / "replay"
LAB_SCHEMA = REPLAY / "lab" / "scenario.schema.json"
NS2_SCHEMA = REPLAY / "lab" / "ns2" / "ns2.schema.json"
STUDY_SCHEMA = REPLAY / "lab" / "study.schema.json"
PART = re.compile(r"(<!-- generated: (?P<name>[a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)

HELP_WIDTH = 98
"""What click uses of a terminal of 100 columns."""

Node = dict[str, Any]


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """Lines of a Markdown table."""
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"


def tables(schemas: dict[str, Any]) -> Iterator[str]:
    """Every table with its columns."""
    for name, schema in schemas.items():
        yield from ("", f"## {name}", "", schema.metadata[b"description"].decode(), "")
        yield from table(
            ("column", "type", "absent?", "meaning"),
            (
                (
                    column.name,
                    str(column.type),
                    "can be" if column.nullable else "",
                    column.metadata[b"description"].decode(),
                )
                for column in schema
            ),
        )
    yield ""


def commands() -> Iterator[str]:
    """The help of every command, as the command prints it."""
    yield from _helps(command_line, "pathscope")
    yield ""


def _helps(command: click.Command, name: str) -> Iterator[str]:
    yield from _help(command, name)
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=name)
        for inner in command.list_commands(context):
            known = command.get_command(context, inner)
            if known is not None:
                yield from _helps(known, f"{name} {inner}")


def _help(command: click.Command, name: str) -> Iterator[str]:
    options: dict[str, Any] = {**command.context_settings, "help_option_names": ["-h", "--help"]}
    context = click.Context(command, info_name=name, terminal_width=HELP_WIDTH, **options)
    lines = (line.rstrip() for line in command.get_help(context).splitlines())
    yield from ("", f"## {name}", "", "```text", *lines, "```")


class Contract:
    """A contract's JSON Schema, as tables."""

    def __init__(self, path: Path = SCHEMA) -> None:
        self.schema: Node = json.loads(path.read_text(encoding="utf-8"))
        self.definitions: dict[str, Node] = self.schema.get("$defs", {})

    def fields(self) -> Iterator[str]:
        """Every object of the contract with its fields, and every word with its meaning."""
        yield from ("", "## The document", "")
        yield from self._object(self.schema)
        for name, node in self.definitions.items():
            yield from ("", f"## {name}")
            if "description" in node:
                yield from ("", node["description"])
            elif "properties" not in node:
                yield from ("", f"{self._type(node)}.")
            if "oneOf" in node and all("const" in one for one in node["oneOf"]):
                yield ""
                yield from self._words(node)
            elif "properties" in node:
                yield ""
                if any("x-unit" in field for field in node["properties"].values()):
                    yield f"Keys: {', '.join(f'`{key}`' for key in node['properties'])}."
                    yield "[metrics.md](metrics.md) defines them."
                else:
                    yield from self._object(node)
        yield ""

    def _object(self, node: Node) -> Iterator[str]:
        rows = list(self._rows(node, ""))
        yield from table(("field", "type", "meaning"), rows)
        for name, field in node["properties"].items():
            if all("const" in one for one in field.get("oneOf", [{}])):
                yield from ("", f"`{name}`:", "")
                yield from self._words(field)

    def _rows(self, node: Node, prefix: str) -> Iterator[tuple[str, str, str]]:
        for name, field in node["properties"].items():
            optional = "" if name in node["required"] else " (can be left out)"
            yield (prefix + name, self._type(field) + optional, field.get("description", ""))
            inner = field.get("items", field) if field.get("type") == "array" else field
            if "properties" in inner and set(inner["properties"]) != {"a", "b"}:
                dots = "[]." if inner is not field else "."
                yield from self._rows(inner, f"{prefix}{name}{dots}")

    def _type(self, node: Node) -> str:
        if "$ref" in node:
            name = node["$ref"].rpartition("/")[2]
            return f"[{name}](#{name})"
        if "anyOf" in node or "oneOf" in node:
            which = node.get("anyOf") or node["oneOf"]
            is_words = all("const" in one for one in which)
            kinds = [] if is_words else [self._type(one) for one in which]
            return " or ".join(kinds) or "one of the words below"
        if "const" in node or "enum" in node:
            words = node.get("enum", [node.get("const")])
            return " or ".join(f"`{json.dumps(word)}`" for word in words)
        if set(node.get("properties", ())) == {"a", "b"}:
            return f"`a` and `b`: {self._type(node['properties']['a'])}"
        if node["type"] == "array":
            return f"list of {self._type(node['items'])}" if node["items"] else "empty list"
        kinds = node["type"] if isinstance(node["type"], list) else [node["type"]]
        return " or ".join(kinds)

    @staticmethod
    def _words(node: Node) -> Iterator[str]:
        return table(
            ("word", "meaning"), ((f"`{w['const']}`", w["description"]) for w in node["oneOf"])
        )

    def words(self, name: str) -> Iterator[str]:
        """The words of one definition."""
        return self._words(self.definitions[name])

    def measures(self, name: str) -> Iterator[str]:
        """Every key of one definition: unit, basis, definition, source."""
        return table(
            ("key", "unit", "basis", "definition", "after"),
            (
                (
                    f"`{key}`",
                    field["x-unit"],
                    self._basis(field["$ref"]),
                    field["description"],
                    field["x-source"],
                )
                for key, field in self.definitions[name]["properties"].items()
            ),
        )

    def _basis(self, reference: str) -> str:
        found: list[str] = []

        def collect(node: Node) -> None:
            if "$ref" in node:
                collect(self.definitions[node["$ref"].rpartition("/")[2]])
            for one in (*node.get("oneOf", ()), *node.get("anyOf", ())):
                collect(one)
            fields = node.get("properties", {})
            if "reason" in fields:
                found.append("absent")
            elif "basis" in fields:
                found.extend(fields["basis"].get("enum", [fields["basis"].get("const")]))

        collect({"$ref": reference})
        return ", ".join(dict.fromkeys(found))


def defined(found: dict[str, Any]) -> Iterator[str]:
    """Numbers by name, with unit and definition."""
    rows = ((f"`{name}`", one.unit, one.text) for name, one in found.items())
    return table(("name", "unit", "definition"), rows)


class Settings:
    """A JSON Schema of settings, as tables."""

    KINDS: ClassVar[dict[str, str]] = {
        "integer": "whole number",
        "boolean": "`true` or `false`",
        "object": "table",
    }

    def __init__(self, path: Path) -> None:
        self.schema: Node = json.loads(path.read_text(encoding="utf-8"))

    def tables(self, *only: str) -> Iterator[str]:
        """Every table of settings, or those named, with its keys: values, default, meaning."""
        for name, node in {"The file": self.schema, **self.schema["$defs"]}.items():
            if "properties" not in node or (only and name not in only):
                continue
            yield from ("", f"### {name}", "")
            rows = (self._row(node, key) for key in node["properties"])
            yield from table(("key", "value", "default", "meaning"), rows)
        yield ""

    def _row(self, node: Node, key: str) -> tuple[str, str, str, str]:
        field = node["properties"][key]
        if field.get("$ref", "").startswith("#"):
            field = {"default": self._named(field).get("default")} | field
        default = ""
        if key in node.get("required", ()):
            default = "needed"
        elif field.get("default"):
            default = f"`{json.dumps(field['default'])}`"
        elif "x-ns2" in field:
            default = f"ns-2's: `{json.dumps(field['x-ns2'])}`"
        return f"`{key}`", self._values(field), default, field.get("description", "")

    def _named(self, field: Node) -> Node:
        found: Node = self.schema["$defs"][field["$ref"].rpartition("/")[2]]
        return found

    def _values(self, field: Node) -> str:
        if "$ref" in field:
            file, _, path = field["$ref"].rpartition("#/$defs/")
            name = path.partition("/")[0]
            if file:  # Scenarios are what others borrow from.
                return f"[{name}](settings-scenario.md#{name})"
            inner = self._named(field)
            return f"[{name}](#{name})" if "properties" in inner else self._values(inner)
        if "const" in field or "enum" in field:
            words = field.get("enum", [field.get("const")])
            return ", ".join(f"`{w if isinstance(w, str) else json.dumps(w)}`" for w in words)
        if "pattern" in field:
            return "name"
        if "type" not in field:
            return "see there"
        kinds = field["type"] if isinstance(field["type"], list) else [field["type"]]
        found = " or ".join(self._kind(field, kind) for kind in kinds)
        if "maximum" in field:
            least = field.get("minimum", field.get("exclusiveMinimum"))
            above = "above " if "exclusiveMinimum" in field else ""
            found += f", {above}{least} to {field['maximum']:.10g}"
        return found

    def _kind(self, field: Node, kind: str) -> str:
        if kind == "array":
            return f"list of {self._values(field['items'])}"
        return self.KINDS.get(kind, kind)


@cache
def lab_findings() -> dict[str, list[str]]:
    """Captures of the lab by the rule of an association that they show."""
    found: dict[str, list[str]] = {}
    for capture in sorted(CAPTURES.glob("*/*.pcapng")):
        name = f"{capture.parent.name}/{capture.stem}"
        for association in analyze(capture).associations:
            for rule in {finding.rule for finding in association.findings}:
                found.setdefault(rule, []).append(name)
    return found


def findings() -> Iterator[str]:
    """Every rule for what looks wrong, with its captures."""
    for scope in ("association", "flow"):
        yield from ("", f"## Of {'SCTP associations' if scope == 'association' else 'flows'}", "")
        yield from table(
            ("rule", "severity", "meaning", "after", "what to do", "shown by", "not by", "in runs"),
            (_rule(rule) for rule in RULEBOOK if rule.scope == scope),
        )
    yield ""


MOST_RUNS = 3
"""Runs of the lab named beside a rule."""


def _rule(rule: Rule) -> tuple[str, ...]:
    folder = rule.name if rule.scope == "association" else f"{rule.scope}-{rule.name}"
    triggers, silent = (
        f"[{name}](../fixtures/findings/{folder}/{name}.pcapng)" for name in ("triggers", "not")
    )
    runs = lab_findings().get(rule.name, []) if rule.scope == "association" else []
    more = f" and {len(runs) - MOST_RUNS} more" if len(runs) > MOST_RUNS else ""
    return (
        f"`{rule.name}`",
        rule.severity,
        rule.meaning,
        rule.source,
        rule.remedy,
        triggers,
        silent,
        ", ".join(runs[:MOST_RUNS]) + more,
    )


def parts() -> dict[str, Callable[[], Iterator[str]]]:
    """Every generated part, by name."""
    contract = Contract()
    measured = {
        "instants": "instants",
        "handover-metrics": "handover_metrics",
        "path-metrics": "direction_metrics",
        "heartbeats": "heartbeats",
        "transit-metrics": "transit_metrics",
        "totals": "totals",
        "handoff-region": "region_metrics",
        "handoff": "handoff_metrics",
        "timeline-instants": "timeline_instants",
        "timeline-metrics": "timeline_metrics",
        "phase-instants": "phase_instants",
        "phase-metrics": "phase_metrics",
        "path-choice": "choice_metrics",
        "timers": "timers",
        "waiting": "waiting_metrics",
        "receivers": "receiver_metrics",
        "flow-metrics": "flow_metrics",
        "flow-direction-metrics": "flow_direction_metrics",
        "connection-totals": "connection_totals",
        "subflow-sender-metrics": "subflow_sender_metrics",
        "subflow-metrics": "subflow_metrics",
        "route-metrics": "route_metrics",
        "link-metrics": "link_metrics",
    }
    return {
        "tables": lambda: tables(ledger.schemas()),
        "index-tables": lambda: tables(index.schemas()),
        "commands": commands,
        "fields": contract.fields,
        "compare-fields": Contract(COMPARE_SCHEMA).fields,
        "fidelity-fields": Contract(REPORTS / "replay" / "fidelity.schema.json").fields,
        "live-fields": Contract(REPORTS / "replay" / "live.schema.json").fields,
        "qlog-fields": Contract(REPORTS / "qlog.schema.json").fields,
        "story-fields": Contract(STORY_SCHEMA).fields,
        "findings": findings,
        "causes": lambda: contract.words("cause"),
        "ns-settings": Settings(NS2_SCHEMA).tables,
        "study-settings": Settings(STUDY_SCHEMA).tables,
        "quantities": lambda: defined(QUANTITIES),
        "study-numbers": lambda: defined(NUMBERS),
        "profile-settings": Settings(REPLAY / "profiles" / "profile.schema.json").tables,
        "scenario-settings": Settings(LAB_SCHEMA).tables,
    } | {name: (lambda key=key: contract.measures(key)) for name, key in measured.items()}


def render(text: str) -> str:
    """Fill in every generated part of a document.

    Raises
    ------
    KeyError
        When a part has no maker.
    """
    makers = parts()

    def fill(match: re.Match[str]) -> str:
        return match[1] + "\n".join(makers[match["name"]]()) + "\n" + match[3]

    return PART.sub(fill, text)


def main() -> None:
    """Write every document anew."""
    for path in sorted(DOCS.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        rendered = render(text)
        if rendered != text:
            path.write_text(rendered, encoding="utf-8")


if __name__ == "__main__":
    main()
