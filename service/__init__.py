"""The service: HTTP, WebSocket, the command line, and the worker processes."""

if __name__ != "cardan.service":
    raise ImportError("import cardan.service: `service` would be a second copy of it")
