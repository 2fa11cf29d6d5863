"""Files are read as data: with lines, without entities, without secrets."""

from __future__ import annotations

import pytest

from hacheck.audit.entries import HIDDEN, Entry, Unreadable, found_at, leaves, without_secrets
from hacheck.audit.formats import FORMATS, FormatName


def flat(name: FormatName, text: str) -> dict[str, tuple[str | None, int]]:
    """Each value with its line, by path."""
    return {one.path: (one.entry.value, one.entry.line) for one in leaves(FORMATS[name](text, "file"))}


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("xml", "<a>\n <x:b k='1'>v</x:b>\n <c/>\n</a>", {"a/b": ("v", 2), "a/b/@k": ("1", 2), "a/c": (None, 3)}),
        ("ini", "top=1\n[one]\n# no\nx = 'a b'\ny: 2\n", {"top": ("1", 1), "one/x": ("a b", 4), "one/y": ("2", 5)}),
        ("properties", "# no\na.b=1\nc = 2 \\\n  3\n", {"a.b": ("1", 2), "c": ("2 3", 3)}),
        ("directives", "port 1\nsave 3600 1\n", {"port": ("1", 1), "save": ("3600 1", 2)}),
        (
            "keepalived",
            "vrrp_instance VI_1 {\n  priority 100 # hundred\n  track {\n    chk weight -5\n  }\n}\n",
            {
                "vrrp_instance": ("VI_1", 1),
                "vrrp_instance/priority": ("100", 2),
                "vrrp_instance/track/chk": ("weight -5", 4),
            },
        ),
        ("options", "qpidd --ha-cluster=yes --port 5672 -t", {"ha-cluster": ("yes", 1), "port": ("5672", 1)}),
        (
            "yaml",
            "a: 1 # one\nb:\n  c: [x, 'y z']\n  d:\n  - e: 'f'\n    g: |\n      two\n      lines\n  - h\n",
            {
                "a": ("1", 1), "b/c/0": ("x", 3), "b/c/1": ("y z", 3), "b/d/0/e": ("f", 5),
                "b/d/0/g": ("two\nlines", 6), "b/d/1": ("h", 9),
            },
        ),
    ],
)  # fmt: skip
def test_format_gives_values_with_their_lines(
    name: FormatName, text: str, found: dict[str, tuple[str | None, int]]
) -> None:
    assert flat(name, text) == found


def test_yaml_merges_what_an_anchor_stands_before() -> None:
    text = "base: &b\n  ttl: 30\n  wait: 10\nnode:\n  <<: *b\n  ttl: 20\n"
    assert {path: value for path, (value, _) in flat("yaml", text).items()} == {
        "base/ttl": "30", "base/wait": "10", "node/ttl": "20", "node/wait": "10",
    }  # fmt: skip


def test_yaml_merges_a_list_of_mappings_of_which_the_first_counts() -> None:
    text = "a: &a {x: 1}\nb: &b {x: 2, y: 3}\nc:\n  z: 4\n  <<: [*a, *b]\n"
    found = {path: value for path, (value, _) in flat("yaml", text).items() if path.startswith("c/")}
    assert found == {"c/z": "4", "c/x": "1", "c/y": "3"}


def test_yaml_constructs_nothing_and_reads_the_first_document() -> None:
    text = "a: !!python/object/apply:os.system ['exit 1']\nb: !Mine yes\nc: ~\nd: null\n---\ne: 1\n"
    assert flat("yaml", text) == {"a/0": ("exit 1", 1), "b": ("yes", 2), "c": (None, 3), "d": (None, 4)}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("xml", "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "declares an entity"),
        ("xml", "<a><b></a>", "is no XML"),
        ("yaml", "a:\n\tb: 1", "is no YAML"),
        ("yaml", "a: [1, 2", "is no YAML"),
        ("yaml", "a: *b", "undefined alias"),
        ("yaml", "a: 1\nb: 2\na: 3", "the key `a` stands here twice"),
        ("yaml", "a: &b [*b]", "nested more than"),
        ("yaml", "[" * 500 + "]" * 500, "nested"),
        ("yaml", "a: 1\n<<: 7", "`<<` merges something"),
        ("yaml", "? [a, b]\n: 1", "a collection as a key"),
        ("keepalived", "vrrp_instance V {\n", "has no end"),
        ("directives", "requirepass 'x", "quotation mark"),
    ],
)
def test_text_that_is_none_of_the_format_is_refused_with_its_place(name: FormatName, text: str, message: str) -> None:
    with pytest.raises(Unreadable) as raised:
        FORMATS[name](text, "the-file")
    assert message in str(raised.value)
    assert str(raised.value).startswith("the-file:")


def test_aliases_of_aliases_do_not_make_a_small_file_endless() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    with pytest.raises(Unreadable, match="entries"):
        FORMATS["yaml"]("\n".join(lines), "file")


def test_no_secret_is_left_and_two_can_still_be_compared() -> None:
    one = without_secrets((Entry("cluster-password", "s3cret", 1), Entry("url", "amqp://me:s3cret@host", 2)))
    other = without_secrets((Entry("cluster-password", "s3cret", 1),))
    assert [entry.value for entry in one] == [HIDDEN, f"amqp://me:{HIDDEN}@host"]
    assert one[0].digest == other[0].digest != without_secrets((Entry("password", "else", 1),))[0].digest
    assert "s3cret" not in repr(one)


def test_paths_have_wildcards_and_names_match_without_regard_to_case() -> None:
    tree = FORMATS["xml"]("<a><B><c>1</c></B><d><e><c>2</c></e></d></a>", "file")
    assert [one.entry.value for one in found_at(tree, "a/b/c")] == ["1"]
    assert [one.entry.value for one in found_at(tree, "a/**/c")] == ["1", "2"]
    assert [one.path for one in found_at(tree, "a/*/c")] == ["a/B/c"]


def test_words_of_a_directive_are_reached_by_number() -> None:
    entries = FORMATS["directives"]("sentinel monitor mymaster 10.0.0.1 6379 2\nsentinel myid abc\n", "file")
    assert [one.entry.value for one in found_at(entries, "sentinel/monitor/4")] == ["2"]
    assert [one.entry.value for one in found_at(entries, "sentinel/myid")] == ["abc"]
    assert [one.path for one in leaves(entries)] == ["sentinel/monitor", "sentinel/myid"]


def test_no_word_of_a_secret_directive_is_left() -> None:
    entries = without_secrets(FORMATS["directives"]("sentinel auth-pass mymaster hush\n", "file"))
    assert [one.entry.value for one in found_at(entries, "sentinel/auth-pass")] == [HIDDEN]
    assert "hush" not in repr(entries)
