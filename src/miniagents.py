"""The package `miniagents` in one table: its modules, and their names, which are those of the
runtime. Importing this creates them all. A name is found in any of the modules, as it moved from
version to version.
"""

import sys
from types import ModuleType
from typing import Any, TypeVar

import selfeng_agents as runtime
from selfeng_agents import (
    console,
    history,
    message,
    mini_agent,
    models,
    package_values,
    promising_context,
    promising_errors,
    ready_agents,
    sentinels,
)
from selfeng_agents.models import chat_messages

_TYPES = (
    "T PIECE WHOLE IN OUT T_co PIECE_co WHOLE_co IN_co OUT_co "
    "PromiseBound StreamedPromiseBound FlatSequenceBound "
)
_OBJECTS: dict[str, Any] = {
    **{name: TypeVar(name) for name in _TYPES.split()},
    **vars(promising_errors),
    **vars(chat_messages),
    **vars(models),
    **vars(history),
    **vars(console),
    **vars(package_values),
    **vars(ready_agents),
    **vars(runtime),
    "AgentFunction": mini_agent.Body,
    "AnthropicAgent": models.anthropic_agent,
    "ChatMessage": models.RoleMessage,
    "LLMMessage": models.RoleMessage,
    "AgentReplyMessageSequence": runtime.MessageSequence,
    "MarkdownHistoryAgent": ready_agents.markdown_history_agent,
    "MessageSequenceAppender": runtime.MessageSequence,
    "MessageTokenStreamer": message.TokenStreamer,
    "OpenAIAgent": models.openai_agent,
    "PersistMessageEventHandler": mini_agent.PersistMessageHandler,
    "PersistMessagesEventHandler": mini_agent.PersistMessagesHandler,
    "PromiseResolvedEventHandler": promising_context.ResolvedHandler,
    "SafeMessageSequencePromise": runtime.MessageSequencePromise,
    "Sentinel": sentinels.Sentinel,
    "SingleMessageType": runtime.MessageType,
    "as_single_text_promise": runtime.join_messages,
    "console_echo_agent": console.console_output_agent,
    "console_prompt_agent": console.console_input_agent,
    "create_anthropic_agent": models.anthropic_agent.fork,
    "create_openai_agent": models.openai_agent.fork,
    "echo_agent": console.console_output_agent,
    "file_agent": ready_agents.file_output_agent,
}
_AGENTS = (
    "AgentCall AgentCallNode AgentInteractionNode AgentReplyNode InteractionContext "
    "MiniAgent MiniAgents miniagent __version__ "
)
_SEQUENCES = "Message MessagePromise MessageSequence MessageSequencePromise "
_MESSAGES = (
    _SEQUENCES + "ErrorMessage MessageTokenAppender StrictMessage TextMessage TextToken Token "
)
_CHAINS = (
    "AWAIT CLEAR agent_chain agent_loop console_user_agent dialog_loop prompt_agent user_agent "
)
_HISTORIES = (
    "in_memory_history_agent markdown_history_agent MarkdownHistoryAgent markdown_llm_logger_agent "
)
_KEPT = _HISTORIES + "GLOBAL_MESSAGE_HISTORY "
_IO = "console_input_agent console_output_agent file_output_agent "
_FROZEN = "Frozen FrozenType cached_privately "
_ROLES = "AssistantMessage SystemMessage UserMessage message_to_llm_dict "
_OPENAI = "OpenAIMessage aprepare_dicts_for_openai create_openai_agent openai_agent "
_ANTHROPIC = "AnthropicMessage anthropic_agent aprepare_dicts_for_anthropic create_anthropic_agent "
_LLMS = "LLMAgent LLMMessage "

MODULES = {
    "": _AGENTS + _MESSAGES + _FROZEN + "MessageType join_messages split_messages",
    "chat_history": "ChatHistory InMemoryChatHistory",
    "ext": _CHAINS + _HISTORIES + _IO,
    "ext.agent_aggregators": _CHAINS,
    "ext.agents": "",
    "ext.agents.agent_aggregators": _CHAINS,
    "ext.agents.aggregator_agents": _CHAINS,
    "ext.agents.history_agents": _KEPT,
    "ext.agents.misc_agents": _IO,
    "ext.chat_history_md": "ChatHistoryMD",
    "ext.console_user_agent": "console_user_agent create_console_user_agent",
    "ext.history_agents": _KEPT,
    "ext.llm": "",
    "ext.llm.anthropic": _ANTHROPIC,
    "ext.llm.llm_common": _ROLES,
    "ext.llm.openai": _OPENAI,
    "ext.llms": _ROLES
    + _LLMS
    + "AnthropicAgent AnthropicMessage OpenAIAgent OpenAIMessage aprepare_dicts_for_anthropic "
    "aprepare_dicts_for_openai openai_embedding_agent",
    "ext.llms.anthropic": _ANTHROPIC + "AnthropicAgent",
    "ext.llms.llm_utils": _ROLES + _LLMS + "ChatMessage EmbeddingMessage PromptLogMessage",
    "ext.llms.openai": _OPENAI + "OpenAIAgent openai_embedding_agent",
    "ext.markdown": "",
    "ext.markdown.chat_history_md": "ChatHistoryMD",
    "ext.misc_agents": _IO + "console_echo_agent console_prompt_agent echo_agent file_agent",
    "ext.user_agents": "GLOBAL_CHAT_HISTORY console_user_agent echo_agent file_agent",
    "messages": _MESSAGES + "MessageSequenceAppender SafeMessageSequencePromise",
    "miniagent_typing": "AgentFunction MessageTokenStreamer MessageType SingleMessageType "
    "PersistMessageEventHandler PersistMessagesEventHandler",
    "miniagents": _AGENTS + _SEQUENCES + "AgentReplyMessageSequence MessageType",
    "promising": "",
    "promising.errors": "AppenderClosedError AppenderNotOpenError FunctionNotProvidedError "
    "NoActiveContextError PromisingContextError "
    "PromisingError WrongActiveContextError",
    "promising.ext": "",
    "promising.ext.frozen": _FROZEN + "FROZEN_CLASS_FIELD",
    "promising.promise_typing": _TYPES + "PromiseResolvedEventHandler PromiseResolver "
    "PromiseStreamer SequenceFlattener",
    "promising.promising": "Promise PromisingContext StreamAppender StreamedPromise",
    "promising.sentinels": "AWAIT CLEAR DEFAULT END_OF_QUEUE END_OF_UNORDERED_QUEUE FAILED "
    "NO_VALUE Sentinel",
    "promising.sequence": "FlatSequence",
    "utils": "MiniAgentsLogFormatter ModelSingleton ModelSingletonMeta Singleton SingletonMeta "
    "achain_loop adialog_loop as_single_text_promise display_agent_trace "
    "get_current_agent_trace join_messages split_messages",
}
"""Names by module, below `miniagents`; a module comes after the one that contains it."""


_PUBLIC = {name for names in MODULES.values() for name in names.split()}


def _make(below: str, names: str) -> None:
    """Put one module where `import` looks for it, and into the module that contains it."""
    full = f"{__name__}.{below}".rstrip(".")
    module = sys.modules[full] if not below else sys.modules.setdefault(full, ModuleType(full))

    def find(name: str) -> Any:
        if name in _PUBLIC:
            return _OBJECTS[name]
        raise AttributeError(f"module {full!r} has no attribute {name!r}")

    module.__dict__.update(
        {name: _OBJECTS[name] for name in names.split()},
        __all__=sorted(names.split()),
        __getattr__=find,
        __path__=[],
    )
    if below:
        parent, _, name = full.rpartition(".")
        sys.modules[parent].__dict__.setdefault(name, module)  # an agent of that name stays


for _below, _names in MODULES.items():
    _make(_below, _names)
