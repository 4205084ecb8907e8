"""Traces of OpenTelemetry: requests, runs in the queue, attempts at them, sessions, and workers.

The standard variables switch them on (`set_up`), and its SDK reads the others by itself. While they
are off nothing of OpenTelemetry is imported. Worker processes export nothing: the service knows
when they began and ended, and writes their spans.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cardan import __version__
from cardan.service.settings import SettingsError

if TYPE_CHECKING:
    from fastapi.telemetry import TelemetryConfig
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter

ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
PROTOCOL = "http/protobuf"
# of the HTTP header and of the column in which a run keeps the context of its request
CONTEXT = "traceparent"

_provider: "TracerProvider | None" = None


def set_up(environ: Mapping[str, str]) -> None:
    """Export traces if the variables ask for it. Raises SettingsError when that cannot be done."""
    if not _is_wanted(environ):
        return
    protocol = next((environ[name] for name in PROTOCOLS if environ.get(name)), PROTOCOL)
    if protocol != PROTOCOL:
        raise SettingsError(
            f"OTEL_EXPORTER_OTLP_PROTOCOL: traces are sent as {PROTOCOL}, not {protocol!r}."
        )
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    except ModuleNotFoundError as error:
        raise SettingsError(
            f"The OTEL_* variables ask for traces, and {error.name} is not installed; it comes "
            "with: pip install 'cardan[telemetry]'. OTEL_SDK_DISABLED=true asks for none."
        ) from error
    start(OTLPSpanExporter())


def _is_wanted(environ: Mapping[str, str]) -> bool:
    """Whether traces are asked for. Raises SettingsError for an exporter that there is not."""
    if environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    exporter = environ.get("OTEL_TRACES_EXPORTER")
    if exporter and exporter not in ("otlp", "none"):
        raise SettingsError(f"OTEL_TRACES_EXPORTER must be otlp or none, not {exporter!r}.")
    if exporter:
        return exporter == "otlp"
    return any(environ.get(name) for name in ENDPOINTS)


def start(exporter: "SpanExporter") -> None:
    """Write spans to an exporter from now on, in batches."""
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    global _provider
    resource = Resource.create({"service.version": __version__})
    if str(resource.attributes["service.name"]).startswith("unknown_service"):
        resource = resource.merge(Resource({"service.name": "cardan"}))
    _provider = TracerProvider(resource=resource)
    _provider.add_span_processor(BatchSpanProcessor(exporter))


def stop() -> None:
    """Send what is written, and write no more."""
    global _provider
    if _provider is not None:
        _provider.shutdown()
        _provider = None


class Span:
    """Something that takes time. While traces are off it is empty, and so are all below it."""

    def __init__(self, span: Any = None) -> None:
        """Wrap a span of OpenTelemetry."""
        self._span = span

    @property
    def context(self) -> str | None:
        """What another process or a row needs to go on with this trace: a W3C `traceparent`."""
        if self._span is None:
            return None
        from opentelemetry.trace import set_span_in_context

        return _written(set_span_in_context(self._span))

    def child(self, name: str, since: float | None = None, **about: str | int | None) -> "Span":
        """A span below this one that begins now, or began at `since` [s since 1970]."""
        return Span() if self._span is None else begin(name, self.context, since, **about)

    def end(self, fault: str | None = None) -> None:
        """End it now; with a fault it has failed."""
        if self._span is None:
            return
        if fault is not None:
            from opentelemetry.trace import Status, StatusCode

            self._span.set_status(Status(StatusCode.ERROR, fault))
        self._span.end()


def begin(name: str, parent: str | None, since: float | None, **about: str | int | None) -> Span:
    """A span below the context `parent`, or a trace of its own; `since` [s since 1970], or now."""
    if _provider is None:
        return Span()
    from opentelemetry.context import Context
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    above = TraceContextTextMapPropagator().extract({CONTEXT: parent or ""}, Context())
    return Span(
        _provider.get_tracer("cardan").start_span(
            name,
            above,
            attributes={key: value for key, value in about.items() if value is not None},
            start_time=None if since is None else int(1e9 * since),
        )
    )


def of_requests() -> "TelemetryConfig":
    """What FastAPI takes as `telemetry`: a span of every request, and nothing else."""
    return {
        "tracing": _provider is not None,
        "tracer_provider": _provider,
        "metrics": False,
        "logs": False,
        "operation_spans": False,
        "auto_configure": False,
    }


def note_request(request_id: str) -> None:
    """Give the span of the present request the id that the log has; take keys and tickets out."""
    if _provider is None:
        return
    from opentelemetry.trace import get_current_span

    span = get_current_span()
    span.set_attribute("request", request_id)
    span.set_attribute("url.query", "")


def present() -> str | None:
    """The context of the request that is being answered here; none: traces are off."""
    return None if _provider is None else _written(None)


def _written(context: Any) -> str | None:
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    carrier: dict[str, str] = {}
    TraceContextTextMapPropagator().inject(carrier, context)
    return carrier.get(CONTEXT)
