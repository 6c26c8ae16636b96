"""validate.py SCHEMA SPEC...: prints, for each spec, its name and the first thing that the JSON Schema has
against it, or `valid`. YAML 1.2 as editors read it: yes is a text, 1e-3 a number, << merges."""
import json
import re
import sys

import jsonschema
import yaml


class Core(yaml.SafeLoader):
    """The scalars of YAML 1.2's core schema and merge keys, repeated keys refused."""

    def compose_mapping_node(self, anchor):
        node = super().compose_mapping_node(anchor)
        keys = [key.value for key, _ in node.value]
        if len(set(map(str, keys))) < len(keys):
            raise yaml.YAMLError("a key is given twice")
        return node


Core.yaml_implicit_resolvers = {}
for tag, pattern, first in (
    ("merge", r"^<<$", ["<"]),
    ("null", r"^(~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("bool", r"^(true|True|TRUE|false|False|FALSE)$", list("tTfF")),
    ("int", r"^[-+]?[0-9]+$", list("-+0123456789")),
    ("float", r"^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$", list("-+.0123456789")),
):
    Core.add_implicit_resolver("tag:yaml.org,2002:" + tag, re.compile(pattern), first)
Core.add_constructor("tag:yaml.org,2002:int", lambda loader, node: int(node.value))
Core.add_constructor("tag:yaml.org,2002:float", lambda loader, node: float(node.value))


def verdict(validator, path):
    try:
        with open(path, encoding="utf-8") as file:
            spec = yaml.load(file, Core)
    except (yaml.YAMLError, UnicodeDecodeError) as problem:
        return "not YAML: " + str(problem).splitlines()[0]
    found = jsonschema.exceptions.best_match(validator.iter_errors(spec))
    return "valid" if found is None else f"{found.json_path}: {found.message[:200]}"


with open(sys.argv[1], encoding="utf-8") as schema_file:
    schema = json.load(schema_file)
jsonschema.Draft7Validator.check_schema(schema)
for spec_path in sys.argv[2:]:
    print(spec_path, verdict(jsonschema.Draft7Validator(schema), spec_path))
