"""Libraries that check values against a schema: what does not fit will not fit on a retry."""

from __future__ import annotations

from typing import Final

from failhook.classify.python.raised import raised
from failhook.classify.rule import APPLICATION

SCHEMAS: Final = (
    raised(
        "schema.validation",
        (
            *(
                "pydantic.ValidationError",
                "pydantic_core.ValidationError",
                "jsonschema.ValidationError",
            ),
            *("pydantic_settings.SettingsError", "pydantic.PydanticUserError"),
            *(
                "jsonschema.SchemaError",
                "jsonschema.RefResolutionError",
                "fastjsonschema.JsonSchemaException",
            ),
            *("marshmallow.ValidationError", "voluptuous.Invalid", "voluptuous.MultipleInvalid"),
            *("cerberus.DocumentError", "schema.SchemaError", "trafaret.DataError"),
            *("pandera.SchemaError", "pandera.SchemaErrors", "msgspec.ValidationError"),
            *(
                "attrs.NotAnAttrsClassError",
                "cattrs.BaseValidationError",
                "cattrs.ClassValidationError",
            ),
            *(
                "cattrs.StructureHandlerNotFoundError",
                "dacite.DaciteError",
                "dacite.WrongTypeError",
            ),
            *(
                "django.ValidationError",
                "rest_framework.ValidationError",
                "wtforms.ValidationError",
            ),
            *("fastavro.ValidationError", "avro.AvroTypeException", "avro.SchemaParseException"),
            *("pyarrow.ArrowInvalid", "pyarrow.ArrowTypeError", "pyarrow.ArrowKeyError"),
            *("great_expectations.DataContextError", "great_expectations.ValidationError"),
            *("yaml.YAMLError", "yaml.ScannerError", "yaml.ParserError", "tomllib.TOMLDecodeError"),
            *("configparser.Error", "omegaconf.OmegaConfBaseException", "hydra.HydraException"),
            *("jinja2.TemplateError", "jinja2.UndefinedError", "jinja2.TemplateSyntaxError"),
            *(
                "argparse.ArgumentError",
                "click.UsageError",
                "click.BadParameter",
                "pandas.ParserError",
            ),
            *("pandas.EmptyDataError", "pandas.MergeError", "polars.SchemaError"),
            *("polars.ColumnNotFoundError", "xmlschema.XMLSchemaValidationError"),
        ),
        APPLICATION,
        "InvalidInput",
        deterministic=True,
        because="A value does not have the shape that the code expects of it.",
        source="https://docs.pydantic.dev/latest/errors/errors/",
    ),
)
