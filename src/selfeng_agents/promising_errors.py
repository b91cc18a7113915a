"""Every error that the runtime raises on purpose.

PromisingError
├── FunctionNotProvidedError          a promise has neither a resolver nor a result
├── AppenderNotOpenError              something is appended before `with appender:`
├── AppenderClosedError               something is appended after it
├── EndOfLoop                         an agent ends a loop of agents
└── PromisingContextError
    ├── NoActiveContextError          nothing is running under `async with MiniAgents():`
    └── WrongActiveContextError       the active context is of another kind
"""


class PromisingError(Exception):
    """Base of all errors above."""


class FunctionNotProvidedError(PromisingError):
    """A promise has no way to get its value: neither a resolver nor a streamer nor a result."""


class AppenderNotOpenError(PromisingError):
    """The appender is not open yet; append inside `with appender:`, or call `open()` first."""


class AppenderClosedError(PromisingError):
    """The appender is closed for good."""


class EndOfLoop(PromisingError):
    """An agent in a loop of agents raises it to end the loop."""


class PromisingContextError(PromisingError):
    """Base of all errors about contexts."""


class NoActiveContextError(PromisingContextError, RuntimeError):
    """Nothing is active; put the call under `async with MiniAgents():`, or inside an agent."""


class WrongActiveContextError(PromisingContextError, TypeError):
    """The active context is of another kind."""
