"""Records what the legacy dispatchers of the old package do with scenarios.

The modules in reading order: ``clock`` (time), ``errors`` and ``values`` (the neutral words of
traces), ``handlers`` (scripted handlers), ``run`` (one scenario), ``log`` (lines of the old
package's loggers), ``profiles`` (one file a dispatcher), ``trace`` (a run from outside), and
``generate`` (random scenarios).
"""

LIONAGI = "0.36.0"
FORMAT = 1
