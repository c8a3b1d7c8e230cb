"""What a release says of itself is the same everywhere, and its links work outside of the repository."""

import json
import re
import tomllib
from pathlib import Path

from derive import VERSION

ROOT = Path(__file__).parents[1]


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def test_every_file_names_the_same_version_and_date():
    version, date = re.search(r"^## (\S+), (\S+)$", read("CHANGELOG.md"), re.MULTILINE).groups()
    assert version == VERSION == json.loads(read("pricing_data/datapackage.json"))["version"]
    assert f'\nversion: {version}\ndate-released: "{date}"\n' in read("CITATION.cff")


def test_the_readme_of_the_package_index_links_to_the_tag():
    project = tomllib.loads(read("pyproject.toml"))
    text = read("README.md")
    for one in project["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        text = re.sub(one["pattern"], one["replacement"].replace("$HFPR_VERSION", VERSION), text)
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    assert len(links) > 15 and [link for link in links if not re.match("https?://|#", link)] == []
    repository = project["project"]["urls"]["Repository"].removeprefix("https://github.com")
    inside = [link.partition(f"{repository}/")[2] for link in links if f"{repository}/" in link]
    paths = [re.sub(rf"^(blob/)?v{VERSION}/", "", path).partition("#")[0] for path in inside]
    assert len(paths) > 15 and [path for path in paths if not (ROOT / path).exists()] == []
    assert f'repository-code: "{project["project"]["urls"]["Repository"]}"' in read("CITATION.cff")


def test_workflows_use_fixed_versions_and_no_more_rights_than_they_need():
    workflows = sorted((ROOT / ".github/workflows").glob("*.yml"))
    assert [path.stem for path in workflows] == ["ci", "release", "site"]
    for path in workflows:
        text = path.read_text(encoding="utf-8")
        assert "\npermissions:\n  contents: read\n" in text
        assert [action for action in re.findall(r"uses: (\S+)", text) if not re.search(r"@([0-9a-f]{40}|v\d+(\.\d+)*)$", action)] == []
        assert "secrets." not in text


def test_the_changelog_is_short():
    assert read("CHANGELOG.md").count("\n") <= 120
