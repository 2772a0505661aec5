"""Reads a compose file as JSON and says what the specification has against it."""
import sys

import compose_spec

try:
    compose = compose_spec.PyCompose.from_json(sys.stdin.read())
    compose.validate()
except ValueError as error:
    print(error)
    sys.exit(1)
