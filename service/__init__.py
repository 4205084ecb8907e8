"""The service: HTTP, WebSocket, the command line, and the processes that do the work."""
