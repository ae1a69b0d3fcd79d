#!/bin/sh
# doc/security.md has a table for each attacker. Each row names the tests that show that its sentence is
# true: t1048 "title of the case" of a system test, or test_roles::test_words of a unit test.
test_description='each sentence of doc/security.md about an attacker names tests that exist'
. "$(dirname "$0")/lib.sh"
src=$FLUXQ_SOURCE_DIR

cat >check.py <<'END'
import glob, re, sys

src, page = sys.argv[1:3]
one = r't\d{4} "[^"]+"|test_\w+::\w+'
wrong = []

def titles_of(number):
    files = glob.glob(f"{src}/t/{number}-*.t") + (glob.glob(f"{src}/t/attack/*.sh") if number == "t1091" else [])
    text = "".join(open(f).read() for f in files)
    found = re.findall(r"^\s*(?:test_expect_success|attack) (?:[A-Z0-9,]+ )?'((?:[^'\n]|'\\'')*)'", text, re.M)
    return {t.replace("'\\''", "'") for t in found}

def check_test(test, where):
    if "::" in test:
        file, case = test.split("::")
        files = glob.glob(f"{src}/src/**/test/{file}.c", recursive=True)
        if not any(re.search(rf"cmocka_unit_test\w* \(\s*{case}\b", open(f).read()) for f in files):
            wrong.append(f"{where}: there is no unit test {test}")
    else:
        number, title = test.split(" ", 1)
        if title[1:-1] not in titles_of(number):
            wrong.append(f"{where}: {number} has no case {title}")

def check_row(line, where):
    cells = [c.strip() for c in line.strip().strip("|").split("|")]
    if len(cells) != 3 or not all(cells):
        wrong.append(f"{where}: not a wish, a sentence and its tests")
    elif not cells[1].endswith(".") or ". " in cells[1]:
        wrong.append(f"{where}: not one sentence: {cells[1]}")
    elif not re.fullmatch(rf"(?:{one})(?:; (?:{one}))*", cells[2]):
        wrong.append(f"{where}: not the names of tests: {cells[2]}")
    else:
        for test in re.findall(one, cells[2]):
            check_test(test, where)

rows, attackers, inside = 0, [], False
for n, line in enumerate(open(page), 1):
    if line.startswith("## "):
        inside = line == "## Attackers\n"
    elif inside and line.startswith("### "):
        attackers.append(line[4:].strip())
    elif inside and line.startswith("|") and not line.startswith(("|--", "| could want |")):
        rows += 1
        check_row(line, f"line {n}")
print("\n".join(wrong))
print(rows, "rows", len(attackers), "attackers")
sys.exit(bool(wrong) or rows < 50 or len(attackers) < 7)
END

checks()
{
    /usr/bin/python3 check.py "$src" "$1"
}

test_expect_success 'each sentence has a test, and each test exists' '
    checks "$src/doc/security.md"
'
test_expect_success 'a sentence without a test, a test that does not exist, and a second sentence are errors' '
    sed "/^### A job/,/^### A pod/s/| t[0-9_a-z]*[ :].* |$/| |/" "$src/doc/security.md" >none.md && test_must_fail checks none.md >out && grep "not a wish, a sentence and its tests" out &&
    sed "s/t1091 \"a request that/t1091 \"a request which/" "$src/doc/security.md" >title.md && test_must_fail checks title.md >out && grep "t1091 has no case" out &&
    sed "s/test_roles::test_/test_roles::no_/" "$src/doc/security.md" >case.md && test_must_fail checks case.md >out && grep "no unit test" out &&
    sed "/^## Attackers/,\$s/[.] | t1091/. It does. | t1091/" "$src/doc/security.md" >two.md && test_must_fail checks two.md >out && grep "not one sentence" out
'
test_done
