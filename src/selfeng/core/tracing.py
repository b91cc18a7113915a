"""Tracing: what a turn does, as spans of OpenTelemetry by its conventions for GenAI.

Nothing is recorded or sent unless the environment names an exporter. No span has what people say,
what models reply, or what tools get and return.
https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-agent-spans/
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import entry_points
from urllib.parse import urlsplit

from opentelemetry import trace
from opentelemetry.trace import ProxyTracerProvider, Span, SpanKind, StatusCode
from opentelemetry.util.types import AttributeValue

from selfeng.core.errors import ConfigurationError
from selfeng.core.model_server import APIS, ModelServer

EXPORTER = "OTEL_TRACES_EXPORTER"
AGENT = "selfeng"
_PATIENCE = 500
"""Milliseconds for the last spans."""
_tracer = trace.get_tracer(AGENT)


@contextmanager
def invoke_agent(conversation_id: str) -> Iterator[Span]:
    """The span of a turn; those that begin inside belong to it."""
    attributes = {"gen_ai.agent.name": AGENT, "gen_ai.conversation.id": conversation_id}
    with (
        _span("invoke_agent", AGENT, attributes) as span,
        trace.use_span(span, record_exception=False, set_status_on_exception=False),
    ):
        yield span


@contextmanager
def chat(server: ModelServer, prompt: str) -> Iterator[Span]:
    """The span of a model call; `prompt` is the name of its prompt."""
    address = urlsplit(server.base_url)
    attributes: dict[str, AttributeValue] = {
        "gen_ai.provider.name": "openai" if server.api in APIS else server.api,
        "gen_ai.request.model": server.model,
        "gen_ai.prompt.name": prompt,
        "server.address": address.hostname or "",
        "server.port": address.port or {"http": 80}.get(address.scheme, 443),
    }
    with _span("chat", server.model, attributes, SpanKind.CLIENT) as span:
        yield span


@contextmanager
def execute_tool(name: str) -> Iterator[Span]:
    """The span of a call of a tool."""
    attributes = {"gen_ai.tool.name": name, "gen_ai.tool.type": "function"}
    with _span("execute_tool", name, attributes) as span:
        yield span


def fail(span: Span, kind: str) -> None:
    """Tell that what the span is about failed; `kind` names the error."""
    span.set_attribute("error.type", kind)
    span.set_status(StatusCode.ERROR)


@contextmanager
def _span(
    operation: str,
    what: str,
    extra_attributes: Mapping[str, AttributeValue],
    kind: SpanKind = SpanKind.INTERNAL,
) -> Iterator[Span]:
    attributes = {"gen_ai.operation.name": operation, **extra_attributes}
    span = _tracer.start_span(f"{operation} {what}", kind=kind, attributes=attributes)
    try:
        yield span
    except Exception as error:
        fail(span, type(error).__qualname__)
        raise
    finally:
        span.end()


def configure_tracing() -> None:
    """Send spans where the environment says, as OpenTelemetry's specification names it:
    OTEL_TRACES_EXPORTER and the variables of that exporter. A program that has set this up itself
    is left alone.

    Raises:
        ConfigurationError: the SDK or the exporter is not installed.
    """
    names = [name.strip() for name in os.environ.get(EXPORTER, "").split(",")]
    names = [name for name in names if name not in ("", "none")]
    if not names or not isinstance(trace.get_tracer_provider(), ProxyTracerProvider):
        return
    try:
        from opentelemetry.sdk.resources import SERVICE_NAME, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise ConfigurationError(
            f"{EXPORTER}={names[0]} needs the SDK of OpenTelemetry",
            "pip install 'selfeng[tracing]'",
        ) from error
    resource = Resource.create()
    if str(resource.attributes[SERVICE_NAME]).startswith("unknown_service"):
        resource = resource.merge(Resource({SERVICE_NAME: AGENT}))
    provider = TracerProvider(resource=resource)
    installed = {
        exporter.name: exporter for exporter in entry_points(group="opentelemetry_traces_exporter")
    }
    for name in names:
        entry_name = next(
            (candidate for candidate in _entries(name) if candidate in installed), None
        )
        if entry_name is None:
            raise ConfigurationError(
                f"{EXPORTER}={name}: there is no such exporter",
                f"choose one of {', '.join(sorted(installed))}, or pip install "
                "opentelemetry-exporter-otlp",
            )
        provider.add_span_processor(BatchSpanProcessor(installed[entry_name].load()()))
    trace.set_tracer_provider(provider)


def _entries(name: str) -> tuple[str, ...]:
    """The names under which an exporter may be installed, the best first."""
    if name != "otlp":
        return (name,)
    protocol = os.environ.get("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf").partition("/")[0]
    return (f"otlp_proto_{protocol}", "otlp_proto_grpc")


def flush_spans() -> None:
    """Send what waits. Blocks, for half a second at most."""
    if flush := getattr(trace.get_tracer_provider(), "force_flush", None):
        flush(_PATIENCE)
