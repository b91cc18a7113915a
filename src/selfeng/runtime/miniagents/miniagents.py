"""The package `miniagents` in one table: its modules, and their names. Importing this creates them
all.

A program with this folder on its path finds it as `miniagents`.
"""

import sys
from types import ModuleType
from typing import Any

import selfeng.runtime.miniagents as additions
from selfeng import runtime
from selfeng.runtime import (
    console,
    message,
    mini_agent,
    models,
    promising_context,
    promising_errors,
    sentinels,
)

_OBJECTS: dict[str, Any] = {
    **vars(additions),
    **vars(promising_errors),
    **vars(models),
    **vars(console),
    **vars(runtime),
    "AgentFunction": mini_agent.Body,
    "AnthropicAgent": models.anthropic_agent,
    "ChatMessage": models.RoleMessage,
    "LLMMessage": models.RoleMessage,
    "MarkdownHistoryAgent": additions.markdown_history_agent,
    "MessageTokenStreamer": message.TokenStreamer,
    "OpenAIAgent": models.openai_agent,
    "PersistMessageEventHandler": mini_agent.PersistMessageHandler,
    "PersistMessagesEventHandler": mini_agent.PersistMessagesHandler,
    "PromiseResolvedEventHandler": promising_context.ResolvedHandler,
    "Sentinel": sentinels.Sentinel,
    "as_single_text_promise": runtime.join_messages,
}
_AGENTS = (
    "AgentCall AgentCallNode AgentInteractionNode AgentReplyNode InteractionContext "
    "MiniAgent MiniAgents miniagent "
)
_SEQUENCES = "Message MessagePromise MessageSequence MessageSequencePromise "
_MESSAGES = (
    _SEQUENCES + "ErrorMessage MessageTokenAppender StrictMessage TextMessage TextToken Token "
)
_CHAINS = (
    "AWAIT CLEAR agent_chain agent_loop console_user_agent dialog_loop prompt_agent user_agent "
)
_HISTORIES = "in_memory_history_agent markdown_history_agent "
_ROLES = "AssistantMessage SystemMessage UserMessage message_to_llm_dict "
_OPENAI = "OpenAIMessage create_openai_agent openai_agent "
_ANTHROPIC = "AnthropicMessage anthropic_agent create_anthropic_agent "

MODULES = {
    "": _AGENTS + _MESSAGES + "Frozen MessageType join_messages split_messages",
    "chat_history": "ChatHistory InMemoryChatHistory",
    "ext": _CHAINS + _HISTORIES,
    "ext.agent_aggregators": _CHAINS,
    "ext.agents": "",
    "ext.agents.aggregator_agents": _CHAINS,
    "ext.agents.history_agents": _HISTORIES + "MarkdownHistoryAgent",
    "ext.chat_history_md": "ChatHistoryMD",
    "ext.console_user_agent": "console_user_agent create_console_user_agent",
    "ext.history_agents": _HISTORIES + "MarkdownHistoryAgent",
    "ext.llm": "",
    "ext.llm.anthropic": _ANTHROPIC,
    "ext.llm.llm_common": _ROLES,
    "ext.llm.openai": _OPENAI,
    "ext.llms": _ROLES + "AnthropicAgent AnthropicMessage LLMMessage OpenAIAgent OpenAIMessage",
    "ext.llms.anthropic": _ANTHROPIC + "AnthropicAgent",
    "ext.llms.llm_utils": _ROLES + "ChatMessage LLMMessage",
    "ext.llms.openai": _OPENAI + "OpenAIAgent",
    "messages": _MESSAGES,
    "miniagent_typing": "AgentFunction MessageTokenStreamer MessageType "
    "PersistMessageEventHandler PersistMessagesEventHandler",
    "miniagents": _AGENTS + _SEQUENCES + "MessageType",
    "promising": "",
    "promising.errors": "AppenderClosedError AppenderNotOpenError FunctionNotProvidedError "
    "NoActiveContextError PromisingContextError "
    "PromisingError WrongActiveContextError",
    "promising.ext": "",
    "promising.ext.frozen": "Frozen",
    "promising.promise_typing": "PromiseResolvedEventHandler PromiseResolver PromiseStreamer "
    "SequenceFlattener",
    "promising.promising": "Promise PromisingContext StreamAppender StreamedPromise",
    "promising.sentinels": "AWAIT CLEAR DEFAULT NO_VALUE Sentinel",
    "promising.sequence": "FlatSequence",
    "utils": "achain_loop adialog_loop as_single_text_promise display_agent_trace "
    "get_current_agent_trace join_messages split_messages",
}
"""Names by module, below `miniagents`; a module comes after the one that contains it."""


def _make(below: str, names: str) -> None:
    """Put one module where `import` looks for it, and into the module that contains it."""
    full = f"{__name__}.{below}".rstrip(".")
    module = sys.modules[full] if not below else sys.modules.setdefault(full, ModuleType(full))
    module.__dict__.update(
        {name: _OBJECTS[name] for name in names.split()}, __all__=sorted(names.split()), __path__=[]
    )
    if below:
        parent, _, name = full.rpartition(".")
        setattr(sys.modules[parent], name, module)


for _below, _names in MODULES.items():
    _make(_below, _names)
