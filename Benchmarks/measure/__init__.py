"""Runs the benchmarks: starts servers, has clients load them in turns, and reports the figures."""
