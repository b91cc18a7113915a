"""Deliveries: where the results of schedules go beside their conversations. Hosts are reached
through the broker, by grants that their schedule has and nobody else.

A host that takes no result is asked twice more, and a delivery that a process did not finish is
made again: a file replaces itself, and a webhook and a mail have the id of their run, by which who
gets them twice knows it.
"""

import asyncio
import base64
import json
import logging
import re
import smtplib
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import format_datetime
from pathlib import Path
from typing import Any, assert_never
from urllib.parse import urlsplit

from standardwebhooks import Webhook, WebhookVerificationError

from selfeng.core.errors import AgentError, NetworkRefused, RequestError
from selfeng.core.files import File
from selfeng.core.http import HttpRequest, NetworkAccess, SecretUse
from selfeng.core.private import make_private, replace_private
from selfeng.core.result import Result
from selfeng.core.schedule import Schedule, ToFolder, ToMail, ToWebhook
from selfeng.core.value import Value
from selfeng.servers.broker import Broker
from selfeng.store.grants import Grants

log = logging.getLogger(__name__)

_SECONDS = 30.0
"""For a mail server."""
_ENDINGS = {"csv": "csv", "json": "json", "text": "txt"}
_UNUSABLE = re.compile(r"[^\w.-]+")
"""Characters that a folder's name does not have."""


class RunResult(Value):
    """The result of a run."""

    text: str
    """The answer in its conversation."""
    result: Result | None = None
    """The value that the tool returned; None if none is kept."""
    files: tuple[File, ...] = ()


class Deliveries:
    """Used on one event loop."""

    def __init__(
        self,
        broker: Broker,
        grants: Grants,
        secret: Callable[[str], str],
        folder: Path,
        pauses: Sequence[float] = (5.0, 20.0),
    ) -> None:
        """`secret` gives the value of a name, and blocks. `folder` gets one for each schedule. A
        host that does not take a result is asked again after these `pauses`, in seconds.
        """
        self._pauses = pauses
        self._broker, self._grants, self._secret, self._folder = broker, grants, secret, folder

    async def allow(self, schedule: Schedule) -> None:
        """Note that its owner allows the schedule to reach the host that they named.

        Raises: RequestError: that is none. ResourceNotFound: there is no such secret.
        """
        if accesses := _accesses(schedule):
            for use in accesses[0].secrets:
                await asyncio.to_thread(self._secret, use.name)
            put = self._grants.put
            await asyncio.to_thread(put, schedule.owner, _holder(schedule), 0, accesses)

    async def check(self, secret: str) -> None:
        """Raises: ResourceNotFound: the vault has no secret of this name; "" needs none."""
        if secret:
            await asyncio.to_thread(self._secret, secret)

    async def is_signed(self, secret: str, headers: Mapping[str, str], body: bytes) -> bool:
        """Whether that secret signed a request within the last five minutes."""
        try:
            webhook = Webhook(_key(await asyncio.to_thread(self._secret, secret)))
            webhook.verify(body, dict(headers), json_parse=False)
        except (WebhookVerificationError, ValueError, AgentError):  # malformed ones are wrong, too
            return False
        return True

    async def forget(self, schedule: Schedule) -> None:
        """Revoke what `allow` noted."""
        await asyncio.to_thread(self._grants.revoke, _holder(schedule))

    async def deliver(self, schedule: Schedule, outcome: RunResult) -> None:
        """Raises: AgentError: it could not be delivered, or is no longer allowed."""
        lacking = await asyncio.to_thread(
            self._grants.ungranted, _holder(schedule), _accesses(schedule)
        )
        if lacking:
            raise NetworkRefused(
                f"results of {schedule.name!r} may not go to {lacking[0].name}",
                "add the schedule again to allow it",
            )
        for pause in self._pauses:
            try:
                return await self._once(schedule, outcome)
            except NetworkRefused as error:
                log.info("the result of %s is delivered again: %s", schedule.name, error)
            await asyncio.sleep(pause)
        return await self._once(schedule, outcome)

    async def _once(self, schedule: Schedule, outcome: RunResult) -> None:
        match schedule.deliver:
            case ToFolder() as folder:
                await asyncio.to_thread(self._write, schedule, folder, outcome)
            case ToWebhook() as webhook:
                await self._post(schedule, webhook, outcome)
            case ToMail() as mail:
                await self._mail(schedule, mail, outcome)
            case None:
                pass
            case _:
                assert_never(schedule.deliver)

    def _write(self, schedule: Schedule, folder: ToFolder, outcome: RunResult) -> None:
        place = self._folder / _UNUSABLE.sub("_", schedule.name).lstrip(".")
        due = schedule.due_at or schedule.next_at
        text = outcome.result.in_format(folder.form) if outcome.result else outcome.text
        ending = _ENDINGS[folder.form] if outcome.result else "txt"
        contents = {f"result.{ending}": text.encode(errors="replace")}
        contents |= {file.name: b"".join(file.pieces()) for file in outcome.files}
        try:
            place.mkdir(parents=True, exist_ok=True)
            make_private(place)
            for name, content in contents.items():
                target = place / f"{due:%Y-%m-%dT%H-%M-%S}-{name}"
                replace_private(target, content)
        except OSError as error:
            raise AgentError(
                f"{place} can't be written: {error.strerror}", "make room for it"
            ) from error

    async def _post(self, schedule: Schedule, webhook: ToWebhook, outcome: RunResult) -> None:
        body = json.dumps(_payload(schedule, outcome), ensure_ascii=False)
        now = datetime.now(UTC)
        secret = await asyncio.to_thread(self._secret, webhook.secret)
        headers = {
            "content-type": "application/json",
            "webhook-id": schedule.run,
            "webhook-timestamp": str(int(now.timestamp())),
            "webhook-signature": Webhook(_key(secret)).sign(schedule.run, now, body),
        }
        request = HttpRequest(
            method="POST",
            url=webhook.url,
            headers=tuple(headers.items()),
            body=base64.b64encode(body.encode(errors="replace")).decode(),
        )
        access = _accesses(schedule)[0].model_copy(update={"secrets": ()})  # which only signs
        network = self._broker.network((access,), lambda exchange: None)
        response = await network.send(request)
        if not 200 <= response.status < 300:
            raise NetworkRefused(
                f"{access.host} answers with the status {response.status}",
                "look why it refuses the result, then run the schedule again",
            )

    async def _mail(self, schedule: Schedule, mail: ToMail, outcome: RunResult) -> None:
        (access,) = _accesses(schedule)
        _, address, port = await self._broker.place(access)
        message = _message(schedule, mail, outcome)
        try:
            await asyncio.to_thread(self._send, mail, address, port, message)
        except (OSError, smtplib.SMTPException) as error:
            raise NetworkRefused(
                f"{mail.server} does not take the mail: {type(error).__name__}",
                "check server, user and password",
            ) from None

    def _send(self, mail: ToMail, address: str, port: int, message: EmailMessage) -> None:
        password, context = self._secret(mail.secret), self._broker.trusted()
        server: Any = (
            smtplib.SMTP_SSL(timeout=_SECONDS, context=context)
            if mail.port == smtplib.SMTP_SSL_PORT
            else smtplib.SMTP(timeout=_SECONDS)
        )
        server._host = mail.server  # whose certificate it must have, whatever its address
        try:
            server.connect(address, port)
            if mail.port != smtplib.SMTP_SSL_PORT:
                server.starttls(context=context)
            server.login(mail.user or mail.sender, password)
            server.send_message(message)
        finally:
            server.close()


def _key(secret: str) -> str | bytes:
    return secret if secret.startswith("whsec_") else secret.encode()


def _holder(schedule: Schedule) -> str:
    """The holder of the grants; no tool's name has a space."""
    return f"schedule {schedule.id}"


def _accesses(schedule: Schedule) -> tuple[NetworkAccess, ...]:
    """The needs of the delivery. Raises: RequestError: it names no host."""
    match schedule.deliver:
        case ToWebhook(url=url, secret=secret):
            (access,) = _access_of(url)
            uses = (SecretUse(name=secret, place="header", key="webhook-signature"),)
            path = urlsplit(url).path or "/"
            return (access.model_copy(update={"path": path, "secrets": uses}),)
        case ToMail(server=server, port=port, to=to, secret=secret) as mail:
            (access,) = _access_of(f"https://{server}:{port}/")
            uses = (SecretUse(name=secret, place="basic", key=mail.user or mail.sender),)
            purpose = f"It sends results by e-mail to {to}."
            return (access.model_copy(update={"secrets": uses, "purpose": purpose}),)
    return ()


def _access_of(url: str) -> tuple[NetworkAccess, ...]:
    try:
        accesses = NetworkAccess(host="{url}", methods=("POST",)).at("://" in url and url)
    except ValueError:
        accesses = ()
    if len(accesses) != 1 or accesses[0].scheme == "postgresql":
        raise RequestError(f"{url[:80]!r} names no host", "give an address such as https://a.org/b")
    return accesses


def _payload(schedule: Schedule, outcome: RunResult) -> dict[str, Any]:
    result = outcome.result
    return {
        "type": "schedule.ran",
        "timestamp": datetime.now(UTC).isoformat(),
        "data": {
            "schedule": schedule.name,
            "tool": schedule.tool,
            "version": schedule.version,
            "due_at": (schedule.due_at or schedule.next_at).isoformat(),
            "turn_id": schedule.run,
            "text": outcome.text,
            "value": json.loads(result.content) if result else None,
            "files": [file.name for file in outcome.files],
        },
    }


def _message(schedule: Schedule, mail: ToMail, outcome: RunResult) -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"] = mail.sender, mail.to
    message["Subject"] = f"{schedule.name}: {schedule.tool}"
    message["Date"] = format_datetime(datetime.now(UTC))
    message["Message-ID"] = f"<{schedule.run}@selfeng.invalid>"
    message.set_content(outcome.text)
    for file in outcome.files:
        kind, _, subtype = file.reference().media_type.partition("/")
        content = b"".join(file.pieces())
        message.add_attachment(content, maintype=kind, subtype=subtype, filename=file.name)
    return message
