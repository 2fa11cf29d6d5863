"""The space-time diagram of a run: time goes down, a row is a step, its caption stands beside it."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from hacheck.checker.pictures.glyphs import HUES, Glyphs
from hacheck.checker.pictures.lanes import LaneKind, Layout, lay_out
from hacheck.checker.pictures.legend import legend
from hacheck.checker.pictures.routine_steps import routine_steps
from hacheck.checker.pictures.step_captions import StepCaptions
from hacheck.checker.pictures.styled_line import StyledLine
from hacheck.checker.run_view.broken_part import Broken, turning_points
from hacheck.checker.run_view.view_reader import Json, ViewReader

SHORT_NAMES = 130
"""Below so many columns nodes are named by their numbers."""

DESCRIBED = 160
"""From so many columns on an action is described where it happens first."""


OF_NODES = ("crash", "restart", "pause", "resume")
"""What faults and repairs do to nodes."""

ANSWERED = "answered"
"""What code promises to clients: an answer that says that all is well."""


class Row:
    """A line of the lanes: a character and a style for each column."""

    def __init__(self, width: int) -> None:
        self.chars, self.styles = [" "] * width, [""] * width

    def put(self, column: int, text: str, style: str = "") -> None:
        """Writes text from a column on; what does not fit is left out."""
        for place, char in enumerate(text, start=column):
            if 0 <= place < len(self.chars):
                self.chars[place], self.styles[place] = char, style

    def text(self) -> StyledLine:
        """The line."""
        made = StyledLine()
        for char, style in zip(self.chars, self.styles, strict=True):
            made.append(char, style)
        return made


class Spacetime:
    """Draws a run. Cost: its steps times the width."""

    def __init__(
        self, reader: ViewReader, width: int, glyphs: Glyphs, only: Sequence[str] = (), *, described: bool = False
    ) -> None:
        self.reader, self.width, self.glyphs = reader, width, glyphs
        self.described = described or width >= DESCRIBED
        self.captions = StepCaptions(reader, short=width < SHORT_NAMES)
        self.layout: Layout = lay_out(reader, self.captions, width, only)
        self.columns = self.layout.columns
        modes = list(self.layout.modes)
        self.hues = {mode: HUES[place % len(HUES)] for place, mode in enumerate(modes)}
        self.named = {mode for kind in reader.view["modes"].values() for mode in kind["named"]}
        self.wrong = reader.view["beliefs"]
        self.routine = routine_steps(reader)
        self.turns = turning_points(reader)

    def lines(self, broken: Sequence[Broken] = (), first: int = 1, last: int | None = None) -> list[StyledLine]:
        """The diagram of some steps (all by default), with a legend. No line is longer than the width."""
        end = self.reader.last if last is None else last
        made = self._head(first)
        step = first
        while step <= end:
            routine, quiet = self._routine_until(step, end), self._quiet_until(step, end)
            if routine >= step:
                made += self._folded(step, routine)
            else:
                made += self._step(step) if quiet <= step else self._folded(step, quiet, "nothing changes ({})")
            step = max(step, routine, quiet if routine < step else 0) + 1
        if end == self.reader.last:
            made += self._breaks(broken)
            made += self._under_way()
        marks = self._gutter_marks(first, end)
        return made + legend(self.reader, self.layout, self.captions, self.glyphs, self.width, marks)

    def _gutter_marks(self, first: int, last: int) -> list[str]:
        """What the marks and rows mean that stand in front of the lanes, of those that occur."""
        shown, said = range(first, last + 1), []
        if any(step in shown for step in self.turns):
            said.append(f"{self.glyphs.turn} changes what is broken")
        if any(step in shown for step in self.routine):
            said.append("to N: routine, folded (all in --steps, --format)")
        return said

    # ---- lanes ----

    def _head(self, first: int) -> list[StyledLine]:
        titles, modes = self._row(), self._row()
        for lane in self.layout.lanes:
            titles.put(lane.column - len(lane.title) // 2, lane.title, "bold")
            if lane.kind == "lock":
                held = self.reader.value(first - 1, "", f"{lane.name}.holder")
                self._label(modes, lane.column, self._holder(held), "dim")
            elif lane.kind in ("clients", "outside"):
                modes.put(lane.column, self.glyphs.start, "dim")
            else:
                self._start(modes, lane.name, first - 1)
        made = [self._line("", titles), self._line(f"{first - 1:{self._digits}d}", modes)]
        if first > 1:
            made.append(StyledLine(f"{'':{self.layout.gutter}}steps 1 to {first - 1} are left out", "dim"))
        return made

    def _start(self, row: Row, node: str, state: int) -> None:
        mode = self.reader.mode(state, node)
        if not self.reader.is_up(state, node):
            self._label(row, self.columns[node], "down", "dim")
        elif mode:
            self._label(row, self.columns[node], self.layout.modes.get(mode, mode), self.hues.get(mode, ""))
        else:
            row.put(self.columns[node], self.glyphs.other)

    def _row(self) -> Row:
        return Row(self.layout.width)

    def _axis(self, state: int) -> Row:
        """The lanes as they are in a state."""
        row, glyphs = self._row(), self.glyphs
        for lane in self.layout.lanes:
            if lane.kind == "node":
                self._node(row, lane.name, state)
            elif lane.kind == "lock":
                holder = self.reader.value(state, "", f"{lane.name}.holder")
                if holder in ("none", ""):
                    row.put(lane.column, glyphs.free, "dim")
                else:
                    row.put(lane.column, glyphs.held, "bold green")
                    room = self.layout.lane_width - self.layout.lane_width // 2 - 2
                    row.put(lane.column + 1, self.glyphs.cut(self.captions.name(holder), room), "green")
            else:
                row.put(lane.column, glyphs.start, "dim")
        for one, other in self.reader.cuts(state):
            self._wall(row, one, other)
        return row

    def _node(self, row: Row, node: str, state: int) -> None:
        glyphs, column, mode = self.glyphs, self.columns[node], self.reader.mode(state, node)
        style = self.hues.get(mode, "")
        if not self.reader.is_up(state, node):
            row.put(column, glyphs.down)
        elif self.reader.is_paused(state, node):
            row.put(column, glyphs.paused, "yellow")
        elif mode and mode in self.named:
            row.put(column, glyphs.named, style)
        else:
            same = bool(mode) and mode == self.reader.mode(0, node)
            row.put(column, glyphs.start if same else glyphs.other, style)
        if self._is_wrong(node, state):
            row.put(column + 1, glyphs.wrong, "bold red")

    def _is_wrong(self, node: str, state: int) -> bool:
        return any(one["holder"] == node and one["wrong"] <= state <= one["until"] for one in self.wrong)

    def _wall(self, row: Row, one: str, other: str) -> None:
        if one not in self.columns or other not in self.columns:
            return
        low, high = sorted((self.columns[one], self.columns[other]))
        half = self.layout.lane_width // 2
        row.put(low + half, self.glyphs.wall, "bold red")
        if high - low > self.layout.lane_width:
            row.put(high - (self.layout.lane_width - half), self.glyphs.wall, "bold red")

    def _label(self, row: Row, column: int, words: str, style: str) -> None:
        """A word in brackets under a lane; a mark beside the lane moves behind it."""
        text = f"[{words}]"
        beside = row.chars[column + 1] if column + 1 < len(row.chars) else ""
        start = max(0, column - len(text) // 2)
        row.put(start, text, style)
        if beside == self.glyphs.wrong:
            row.put(start + len(text), beside, "bold red")

    def _holder(self, holder: str) -> str:
        if holder in ("none", ""):
            return "free"
        room = self.layout.lane_width - 2
        return holder if len(holder) <= room - 1 else self.captions.name(holder)

    # ---- steps ----

    def _quiet_until(self, step: int, end: int) -> int:
        """The last of the steps from `step` on that change nothing; those of a loop, and a last one, stand alone."""
        stop = min(end, self.reader.last - 1 if self.reader.loop is None else self.reader.loop)
        last = step - 1
        while last < stop and self._is_quiet(last + 1):
            last += 1
        return last

    def _is_quiet(self, step: int) -> bool:
        """Whether a step changes nothing. Of code that is not known: most of its state is not in the view."""
        made = self.reader.steps[step - 1]
        return not made["delta"] and made["kind"] not in ("fault", "repair") and "at" not in made

    def _routine_until(self, step: int, end: int) -> int:
        """The last of the steps from `step` on that are routine."""
        last = step - 1
        while last < end and last + 1 in self.routine:
            last += 1
        return last

    def _folded(self, first: int, last: int, how: str = "{}") -> list[StyledLine]:
        """Several steps as one row. `how`: what is said of their names."""
        names: dict[str, int] = {}
        for step in range(first, last + 1):
            name = self.reader.steps[step - 1]["action"]
            names[name] = names.get(name, 0) + 1
        said = ", ".join(name if count == 1 else f"{name} {count} times" for name, count in names.items())
        words = textwrap.wrap(
            self.glyphs.text(f"to {last}: {how.format(said)}"), self.layout.caption_width, break_on_hyphens=False
        )
        return [
            self._line("" if place else f"{first:{self._digits}d}", self._axis(last), StyledLine(line, "dim"))
            for place, line in enumerate(words)
        ]

    @property
    def _digits(self) -> int:
        return max(3, len(str(self.reader.last)))

    def _step(self, step: int) -> list[StyledLine]:
        fault = self.reader.is_fault(step)
        actor = self.reader.actor(step)
        gone = fault and actor and not self.reader.is_up(step, actor)
        rows = [self._axis(step - 1 if gone else step)]
        arrows = self._arrows(step)
        self._draw_arrows(rows, arrows, step)
        self._mark(rows[0], step, arrows)
        self._sent(rows, step, arrows)
        label, needed = self._axis(step), False
        needed = self._mode_labels(label, step)
        needed |= self._outside(rows[0], label, step)
        if needed:
            rows.append(label)
        return self._beside(step, rows)

    def _arrows(self, step: int) -> list[tuple[str, str, bool, str, bool]]:
        """What goes from node to node: from, to, whether it is a call, what it is called, whether it arrived."""
        found: list[tuple[str, str, bool, str, bool]] = []
        drawn: set[tuple[str, str]] = set()
        for effect in self.reader.effects(step, "take", "lost"):
            if effect["from"] != effect["to"]:
                taken = effect["t"] == "take"
                found.append(
                    (effect["from"], effect["to"], False, effect["name"].rpartition(".")[0] or effect["name"], taken)
                )
                drawn.add((effect["from"], effect["to"]))
        for effect in self.reader.effects(step, "call"):
            if (effect["from"], effect["to"]) not in drawn and effect["from"]:
                found.append((effect["from"], effect["to"], True, effect["op"], effect["outcome"] == "answered"))
                drawn.add((effect["from"], effect["to"]))
        for effect in self.reader.effects(step, "direct"):
            if not {(effect["from"], effect["to"]), (effect["to"], effect["from"])} & drawn:
                found.append((effect["from"], effect["to"], True, "", True))
                drawn.add((effect["from"], effect["to"]))
        return [one for one in found if one[0] in self.columns and one[1] in self.columns]

    def _draw_arrows(self, rows: list[Row], arrows: list[tuple[str, str, bool, str, bool]], step: int) -> None:
        """The arrows, each in the first line where it crosses no other."""
        groups: dict[tuple[str, bool, str, bool, bool], list[str]] = {}
        for start, end, call, name, arrived in arrows:
            right = self.columns[end] > self.columns[start]
            groups.setdefault((start, call, name, right, arrived), []).append(end)
        used: list[list[tuple[int, int]]] = [[]]
        for (start, call, name, right, arrived), ends in groups.items():
            far = max(ends, key=lambda end: abs(self.columns[end] - self.columns[start]))
            low, high = sorted((self.columns[start], self.columns[far]))
            line = next((k for k, taken in enumerate(used) if all(high <= a or low >= b for a, b in taken)), None)
            if line is None:
                line = len(used)
                used.append([])
                rows.append(self._axis(step))
            used[line].append((low, high))
            self._arrow(rows[line], start, ends, far, call, arrived)
            self._arrow_name(rows[line], start, call, right, name)
            if line and start in self.columns:
                rows[line].put(self.columns[start], self.glyphs.traffic, "bold")

    def _arrow(self, row: Row, start: str, ends: list[str], far: str, call: bool, arrived: bool) -> None:
        glyphs = self.glyphs
        style = "bold blue" if call else "bold cyan"
        begin, last = self.columns[start], self.columns[far]
        right = last > begin
        for column in range(min(begin, last) + 1, max(begin, last)):
            if column not in self.columns.values() or row.chars[column] == " ":
                row.put(column, glyphs.call if call else glyphs.message, style)
        for end in ends:
            column = self.columns[end]
            head = glyphs.failed if not arrived else glyphs.right if right else glyphs.left
            row.put(column - 1 if right else column + 1, head, style if arrived else "bold red")

    def _arrow_name(self, row: Row, start: str, call: bool, right: bool, name: str) -> None:
        """The name on an arrow, in the segment next to its sender, where it is long enough to be read."""
        room = self.layout.lane_width - 4
        text = name if len(name) <= room else name[: room - 1] + "."
        if len(text) < min(4, len(name)) or not text:
            return
        begin = self.columns[start]
        left = begin + 2 if right else begin - self.layout.lane_width + 2
        row.put(left + (room + 1 - len(text)) // 2, text, "blue" if call else "cyan")

    def _mark(self, row: Row, step: int, arrows: list[tuple[str, str, bool, str, bool]]) -> None:
        """The mark on the lane of the node on which the step happens."""
        glyphs, actor = self.glyphs, self.reader.actor(step)
        kind = self.reader.steps[step - 1]["kind"]
        if kind in ("fault", "repair") and not self.reader.effects(step, *OF_NODES):
            for node in self._hit(step):
                row.put(self.columns[node], glyphs.fault if kind == "fault" else glyphs.step, "bold red")
        elif actor in self.columns:
            if kind == "fault":
                paused = bool(self.reader.effects(step, "pause"))
                row.put(self.columns[actor], glyphs.pause if paused else glyphs.crash, "bold red")
            elif kind == "repair":
                row.put(self.columns[actor], glyphs.restart, "bold green")
            else:
                traffic = bool(arrows) or bool(self.reader.effects(step, "send", "take", "call"))
                row.put(self.columns[actor], glyphs.traffic if traffic else glyphs.step, "bold")
        for effect in self.reader.effects(step, "lock"):
            if kind == "fault" and effect["lock"] in self.columns:
                row.put(self.columns[effect["lock"]], glyphs.crash, "bold red")

    def _hit(self, step: int) -> list[str]:
        """The nodes that a fault of code names which stops none and cuts no link."""
        made = self.reader.steps[step - 1]
        if "at" not in made or self.reader.effects(step, "cut", "heal", "lock"):
            return []
        return [node for node in self.reader.mentions(made["caption"][1]) if node in self.columns]

    def _sent(self, rows: list[Row], step: int, arrows: list[tuple[str, str, bool, str, bool]]) -> None:
        """What is sent and arrives later: a short arrow, in a line where no other arrow stands beside the lane."""
        glyphs = self.glyphs
        ends = [(one["from"], one["to"]) for one in self.reader.effects(step, "send")]
        sides = {
            (start, self.columns[end] > self.columns[start])
            for start, end in ends
            if start in self.columns and end in self.columns and self.columns[end] != self.columns[start]
            if not any(one[:2] == (start, end) for one in arrows)
        }
        for start, right in sorted(sides):
            column = self.columns[start]
            place = column + 1 + (rows[0].chars[column + 1] == glyphs.wrong) if right else column - 2
            row = next((one for one in rows if one.chars[place] == one.chars[place + 1] == " "), None)
            if row is None:
                row = self._axis(step)
                rows.append(row)
            row.put(place, glyphs.message + glyphs.right if right else glyphs.left + glyphs.message, "cyan")

    def _mode_labels(self, row: Row, step: int) -> bool:
        """What changed of modes, of who is up or paused, and of locks; whether anything did."""
        reader, needed = self.reader, False
        for node in self.layout.nodes:
            before, after = reader.mode(step - 1, node), reader.mode(step, node)
            came_up = not reader.is_up(step - 1, node) and reader.is_up(step, node)
            if reader.is_up(step - 1, node) and not reader.is_up(step, node):
                self._label(row, self.columns[node], "down", "bold red")
            elif reader.is_paused(step, node) and not reader.is_paused(step - 1, node):
                self._label(row, self.columns[node], "paused" if self.layout.lane_width > 9 else "paus.", "yellow")
            elif after and reader.is_up(step, node) and (before != after or came_up):
                style = self.hues.get(after, "")
                bold = f"bold {style}" if after in self.named else style
                self._label(row, self.columns[node], self.layout.modes.get(after, after), bold)
            else:
                continue
            needed = True
        for effect in reader.effects(step, "lock"):
            if effect["lock"] in self.columns:
                column = self.columns[effect["lock"]]
                row.put(column, " " * (self.layout.lane_width - self.layout.lane_width // 2))
                self._label(row, column, self._holder(effect["after"]), "green")
                needed = True
        return needed

    def _outside(self, row: Row, label: Row, step: int) -> bool:
        """What clients, or an observer of the whole system, learn: an arrow to their lane, and the value under it."""
        needed = False
        for lane in self.layout.lanes:
            words = self._learned(lane.kind, step)
            if not words:
                continue
            needed = True
            start = self.columns.get(self.reader.actor(step))
            if start is not None:
                for column in range(start + 1, lane.column - 1):
                    if row.chars[column] == " ":
                        row.put(column, self.glyphs.call, "green")
                row.put(lane.column - 1, self.glyphs.right, "bold green")
            self._label(label, lane.column, self.glyphs.cut(words, self.layout.lane_width - 3), "bold green")
        return needed

    def _learned(self, kind: LaneKind, step: int) -> str:
        """What stands under an arrow to the clients, or to the outside, where one ends there."""
        if kind == "clients":
            effects = self.reader.effects(step, "acknowledged")
            words = ", ".join(self.captions.words(one["item"]) for one in effects)
            short = "ok" if all(one["what"] == ANSWERED for one in effects) else "ack"
            room = self.layout.lane_width - 3
            if not words or len(words) > room:
                return short if words else ""
            return f"{short} {words}" if len(words) + len(short) + 1 <= room else words
        changed = [one for one in self.reader.changes(step) if one.variable in self.layout.ghosts]
        return f"{changed[0].name} = {self.captions.words(changed[0].after)}" if kind == "outside" and changed else ""

    # ---- captions ----

    def _beside(self, step: int, rows: list[Row]) -> list[StyledLine]:
        """The rows of a step with its caption beside them."""
        reader = self.reader
        head, body = self.captions.caption(step)
        description = reader.steps[step - 1].get("description", "")
        first = not any(one["action"] == reader.steps[step - 1]["action"] for one in reader.steps[: step - 1])
        said = f"  ({description})" if self.described and description and first and head else ""
        whole = self.glyphs.text((f"{head}: {body}" if head and body else head + body) + said)
        wrapped = textwrap.wrap(whole, self.layout.caption_width, break_on_hyphens=False) or [""]
        count = max(len(rows), len(wrapped))
        made = []
        for line in range(count):
            row = rows[line] if line < len(rows) else self._axis(step)
            words = StyledLine(wrapped[line] if line < len(wrapped) else "")
            if line == 0 and head and words.plain.startswith(head):
                words.stylize("bold", 0, len(head))
            if reader.is_fault(step):
                words.stylize("bold red")
            elif reader.steps[step - 1]["kind"] == "repair":
                words.stylize("green")
            number = f"{step:{self._digits}d}{self._gutter_mark(step)}" if line == 0 else " " * (self._digits + 1)
            made.append(self._line(f"{number}{self._bracket(step, line, count)}", row, words))
        return made

    def _gutter_mark(self, step: int) -> str:
        """The mark of a step that changed what is broken."""
        return self.glyphs.turn if step in self.turns else " "

    def _bracket(self, step: int, line: int, count: int) -> str:
        """The bracket around what repeats for ever."""
        loop, glyphs = self.reader.loop, self.glyphs
        if loop is None or step <= loop:
            return ""
        if step == self.reader.last and line == count - 1:
            return glyphs.loop_bottom
        return glyphs.loop_top if step == loop + 1 and line == 0 else glyphs.loop_side

    def _line(self, gutter: str, row: Row, words: StyledLine | None = None) -> StyledLine:
        made = StyledLine(f"{gutter:{self.layout.gutter}}")
        made.append_line(row.text())
        if words is not None:
            made.append(" ").append_line(words)
        made.rstrip()
        return made

    # ---- the end ----

    def _breaks(self, broken: Sequence[Broken]) -> list[StyledLine]:
        """Under the last step: the majority that the broken part speaks of, and the nodes that break the property."""
        made = []
        for one in broken:
            for fact in one.facts:
                if fact.endswith(" are a majority") and (bar := self._bar(fact, one.instance)) is not None:
                    made.append(bar)
        row = self._row()
        marked = [node for one in broken for node in self._breaking(one) if node in self.columns]
        if not marked and len(broken) == 1:
            marked = [node for node in broken[0].nodes if node in self.columns]
        for node in marked:
            row.put(self.columns[node], self.glyphs.breaks, "bold red")
        if marked:
            where = "here it breaks" if self.reader.loop is None else "it stays so"
            made.append(self._line("", row, StyledLine(where, "red")))
        return made

    def _breaking(self, broken: Broken) -> list[str]:
        """The nodes of an instance, and those whose values its facts name (`Server 2's mode is active`)."""
        others = [node for node in broken.nodes if any(f"{node}'s " in fact for fact in broken.facts)]
        return [*self.reader.mentions(broken.instance), *others]

    def _bar(self, fact: str, instance: str) -> StyledLine | None:
        members = [node for node in self.reader.mentions(fact) if node in self.columns]
        if not members:
            return None
        row, columns = self._row(), [self.columns[node] for node in members]
        for column in range(min(columns), max(columns)):
            row.put(column, "-", "bold red")
        for column in columns:
            row.put(column, self.glyphs.joined, "bold red")
        whose = f" of {self.captions.name(instance)}" if instance in self.reader.kind_of else ""
        return self._line(
            "", row, StyledLine(f"followers{whose}: a majority" if "followers" in fact else "a majority", "red")
        )

    def _under_way(self) -> list[StyledLine]:
        sent: list[Json] = [
            (step, effect)
            for step in range(1, self.reader.last + 1)
            for effect in self.reader.effects(step, "send")
            if "until" not in effect
        ]
        if not sent or self.reader.loop is not None:
            return []
        name = self.captions.name
        said = [
            f"{one['name'].removesuffix('.request')} {name(one['from'])} -> {name(one['to'])} (sent at {step})"
            for step, one in sent
        ]
        words = self.glyphs.text(f"still under way: {', '.join(said)}")
        return [StyledLine(line, "dim") for line in textwrap.wrap(words, self.width, break_on_hyphens=False)]
