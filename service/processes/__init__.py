"""Worker processes: the launcher, the framed channel, limits and the supervisor."""
