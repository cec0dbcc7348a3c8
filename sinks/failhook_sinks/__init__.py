"""The sinks that come with failhook; each registers through the entry-point group `failhook`."""
