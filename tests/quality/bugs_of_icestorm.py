"""Seeded bugs of IceStorm."""

from __future__ import annotations

from tests.quality.bugs import Bug


def bug(name: str, module: str, old: str, new: str, why: str) -> Bug:
    """A bug of IceStorm."""
    return Bug(name, "icestorm", f"icestorm.{module}", old, new, why)


ICESTORM = (
    bug(
        "majority_off_by_one",
        "group_formation",
        'return "" if len(members) >= standing.majority else "majority"\n        voters',
        'return "" if len(members) + 1 >= standing.majority else "majority"\n        voters',
        "The coordinator counts itself twice: after a full start it commences alone, where the spec has it recover.",
    ),
    bug(
        "full_start_with_a_majority",
        "group_formation",
        "if self._starts() and not everybody:",
        "if self._starts() and len(members) < standing.majority:",
        "A full start goes on with a majority: `commenced` without having seen all replicas.",
    ),
    bug(
        "latest_is_oldest",
        "group_formation",
        "if accept.llu > llu:",
        "if accept.llu < llu:",
        "Stamps are compared the wrong way: the coordinator syncs from who is behind, or says its own is the latest.",
    ),
    bug(
        "only_generations_compared",
        "group_formation",
        "if accept.llu > llu:",
        "if accept.llu.generation > llu.generation:",
        "Updates of one generation do not count: `database_is_latest` of a coordinator that missed one.",
    ),
    bug(
        "generation_not_advanced",
        "group_formation",
        "return Attempt(standing.group, max(known) + 1, source, llu, {})",
        "return Attempt(standing.group, max(max(known), 1), source, llu, {})",
        "A new group has the generation of the one before, which `commenced` says.",
    ),
    bug(
        "stale_accept_counted",
        "election",
        "if not self._gathering() or message.group != standing.group or",
        "if not self._gathering() or",
        "Who accepted an earlier invitation is counted in: `accepted` names another group.",
    ),
    bug(
        "members_kept_for_the_next_group",
        "election",
        '        standing.generation = -1\n        standing.members = {}\n        self.process.record("merge_started"',
        '        standing.generation = -1\n        self.process.record("merge_started"',
        "Members of the last group count though they have not accepted: sizes in `accepted` and `merge_decided`.",
    ),
    bug(
        "old_members_not_invited",
        "election",
        "self.invited = {*self.found, *members}",
        "self.invited = {*self.found}",
        "A coordinator forgets to invite its own members, which `merge_started` lists.",
    ),
    bug(
        "priority_compared_the_wrong_way",
        "election",
        "delay_us = 0 if standing.ident > highest else",
        "delay_us = 0 if standing.ident < highest else",
        "The lowest replica merges at once, the highest waits: `merge_scheduled` is missing, or is too much.",
    ),
    bug(
        "merge_timer_not_cancelled",
        "election",
        "        self._leave_normal(Step.RECOVER)\n        self._no_merge()\n",
        "        self._leave_normal(Step.RECOVER)\n",
        "A merge that was due before a recovery starts after it, though nobody was found since.",
    ),
    bug(
        "lost_coordinator_ignored",
        "election",
        '            self.recover("lost the coordinator")\n',
        "",
        "A slave writes that it lost its coordinator, and goes on as before: no state change follows.",
    ),
    bug(
        "finds_others_while_it_joins",
        "election",
        "if not found or not standing.coordinates() or self.due or self._disabled():",
        "if not found or self.due or self._disabled():",
        "Answers that come late count though it is in an election meanwhile: `coordinators_found` of a slave.",
    ),
    bug(
        "recovery_does_not_wait",
        "replica",
        "while self.standing.draining is not None and not self.store.busy and not self.updating.committed:",
        "while self.standing.draining is not None:",
        "Who leaves its group does not wait for the update in flight: its line comes after that of the new group.",
    ),
    bug(
        "answers_before_written",
        "slave",
        '                self.store.commit("applied", changes, message.llu, (sender, message.call, message.update))\n',
        "                self.process.send(sender, Answer(message.call, True))\n"
        '                self.store.commit("applied", changes, message.llu, (sender, message.call, message.update))\n',
        "A slave answers before its disk did: the coordinator says that a topic is created before a slave made it.",
    ),
    bug(
        "init_answered_before_written",
        "slave",
        '        self.store.replace("initialized", topics, message.llu, (sender, message.call, kept))\n',
        "        self.process.send(sender, Answer(message.call, True))\n"
        '        self.store.replace("initialized", topics, message.llu, (sender, message.call, kept))\n',
        "A slave answers before it has the database: `ready` comes before `database_taken`.",
    ),
    bug(
        "database_without_its_stamp",
        "slave",
        'self.store.replace("initialized", topics, message.llu, (sender, message.call, kept))',
        'self.store.replace("initialized", topics, self.store.stamp, (sender, message.call, kept))',
        "A slave takes the database, and keeps its own stamp: it rejects the first update, or shows the old one.",
    ),
    bug(
        "generation_not_taken_over",
        "slave",
        "        standing.generation = message.generation\n",
        "",
        "A slave forgets the generation of its group when it is ready: it rejects every update.",
    ),
    bug(
        "not_synced",
        "store",
        "self.process.write(encoded(change.changes, change.stamp, change.promised))",
        "self.process.write(encoded(change.changes, change.stamp, change.promised), sync=False)",
        "Writes are not synced: after a power failure a replica shows an older stamp than it had.",
    ),
    bug(
        "stamp_in_memory_only",
        "store",
        "    if stamp is not None:\n        values.append((STAMP",
        "    if stamp is not None and values:\n        values.append((STAMP",
        "A stamp goes to the disk only with a topic: a replica that took an equal database forgets it at a restart.",
    ),
    bug(
        "acknowledged_without_a_majority",
        "updates",
        "        self._lose_failing(round_)\n        enough = len(self.standing.members) >= self.standing.majority\n",
        "        enough = len(self.standing.members) >= self.standing.majority\n        self._lose_failing(round_)\n",
        "Two steps are exchanged: slaves that fail at an update count for it, and `topic_created` follows.",
    ),
    bug(
        "first_slave_skipped",
        "updates",
        'self.process.ask("apply", self.standing.others(), lambda call: Apply(call, group, stamp, update), group)',
        'self.process.ask("apply", self.standing.others()[1:], lambda call: Apply(call, group, stamp, update), group)',
        "A loop over the slaves begins with the second one: the first one rejects the next update.",
    ),
    bug(
        "update_in_flight_done_again",
        "updates",
        "if self.work is not None and not self.committed:",
        "if self.work is not None:",
        "An update that is on its way to the disks is taken back when the group is left: its end finds nothing.",
    ),
    bug(
        "same_stamp_again",
        "updates",
        'self.store.commit("committed", changes, self.store.stamp.next(), round_.data)',
        'self.store.commit("committed", changes, self.store.stamp, round_.data)',
        "An update does not move the stamp: slaves reject it.",
    ),
    Bug(
        "names_repeat_after_a_restart",
        "icestorm",
        "kit.process",
        "(self.incarnation << 32) + self._counter",
        "self._counter",
        "Names of groups and calls begin anew with each incarnation: a new group has the name of an old one.",
    ),
)


def topics(name: str, module: str, old: str, new: str, why: str) -> Bug:
    """A bug of one service and its topics."""
    return Bug(name, "icestorm-topics", f"icestorm.{module}", old, new, why)


TOPICS = (
    topics(
        "own_subscribers_for_each_link",
        "deliveries",
        "                for subscriber in target.subscribers:\n                    self._offer(target.name,",
        "                for subscriber in (*topic.subscribers, *target.subscribers):\n"
        "                    self._offer(target.name,",
        "A copied loop: over each link a message goes to the topic's own subscribers, too.",
    ),
    topics(
        "failures_not_counted",
        "deliveries",
        "        outlet.failures += 1\n",
        "",
        "A subscriber at which a delivery fails has had none: it is not taken off its topic.",
    ),
    topics(
        "subscribers_compared_by_place",
        "records",
        "    if any(other.identity == subscriber.identity for other in topic.subscribers):\n",
        "    if any(other is subscriber for other in topic.subscribers):\n",
        "Who subscribes again has a second subscription: names are not compared, but objects.",
    ),
)
