"""Worker processes: each holds one engine; this side starts, feeds, watches and replaces them."""
