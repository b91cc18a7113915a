"""Deliveries of scheduled results, in the test world: folders, signed webhooks and mail."""

import asyncio
import base64
import ssl
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from email import message_from_bytes, policy
from pathlib import Path

import pytest
import sqlalchemy as sa
import trustme
from standardwebhooks import Webhook

from selfeng.core.errors import NetworkRefused, RequestError, ResourceNotFound
from selfeng.core.files import File
from selfeng.core.result import Result, canonical, reference_to
from selfeng.core.schedule import Delivery, Schedule, ToFolder, ToMail, ToWebhook
from selfeng.servers.broker import Broker
from selfeng.servers.deliveries import Deliveries, RunResult
from selfeng.store.grants import Grants
from tests.world.world import CANARY, World, only_key

DUE = datetime(2026, 11, 30, 8, tzinfo=UTC)
ROWS = [{"name": "=1+1", "sum": 2}]
CHART = File(name="chart.svg", content=b"<svg/>")
RAN = RunResult(
    text="The sum is 2.",
    result=Result(reference=reference_to(ROWS, canonical(ROWS)), content=canonical(ROWS)),
    files=(CHART,),
)
HOOK = ToWebhook(url="https://api.world.example/v1/echo", secret="KEY")


def schedule(deliver: Delivery) -> Schedule:
    return Schedule(
        name="../weekly sums",
        tool="add",
        version=2,
        cron="0 8 * * *",
        deliver=deliver,
        id="a" * 32,
        owner="me",
        conversation_id="c" * 32,
        created_at=DUE,
        next_at=DUE,
        due_at=DUE,
        run="f" * 32,
    )


def deliveries(world: World, database: sa.Engine, folder: Path) -> Deliveries:
    return Deliveries(world.broker(), Grants(database), only_key, folder / "scheduled", ())


async def test_results_are_files_of_the_owner_alone_and_replace_themselves(
    world: World, database: sa.Engine, tmp_path: Path
) -> None:
    sending, to_folder = deliveries(world, database, tmp_path), schedule(ToFolder(form="csv"))
    await sending.allow(to_folder)
    for _ in range(2):
        await sending.deliver(to_folder, RAN)
    (place,) = (tmp_path / "scheduled").iterdir()
    assert place.name == "_weekly_sums"
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert {path.name: path.read_bytes() for path in place.iterdir()} == {
        "2026-11-30T08-00-00-result.csv": b"name,sum\r\n'=1+1,2\r\n",
        "2026-11-30T08-00-00-chart.svg": b"<svg/>",
    }


async def test_a_webhook_is_signed_and_names_the_run(
    world: World, database: sa.Engine, tmp_path: Path
) -> None:
    sending, to_webhook = deliveries(world, database, tmp_path), schedule(HOOK)
    await sending.allow(to_webhook)
    await sending.deliver(to_webhook, RAN)
    (seen,) = world.seen
    assert (seen.method, seen.path, seen.headers["webhook-id"]) == ("POST", "/v1/echo", "f" * 32)
    told = Webhook(CANARY.encode()).verify(seen.body, dict(seen.headers))
    assert told["data"]["value"] == ROWS
    assert (told["data"]["schedule"], told["data"]["files"]) == ("../weekly sums", ["chart.svg"])
    assert CANARY not in str(seen)


async def test_a_webhook_that_is_refused_or_no_longer_allowed_is_an_error(
    world: World, database: sa.Engine, tmp_path: Path
) -> None:
    sending = deliveries(world, database, tmp_path)
    fails = schedule(HOOK.model_copy(update={"url": "https://api.world.example/v1/status/500"}))
    await sending.allow(fails)
    with pytest.raises(NetworkRefused, match="status 500"):
        await sending.deliver(fails, RAN)
    await sending.forget(fails)
    with pytest.raises(NetworkRefused, match="may not go to"):
        await sending.deliver(fails, RAN)
    assert len(world.seen) == 1


@pytest.mark.parametrize("url", ["", "nowhere", "postgresql://db.example/x", "https://"])
async def test_an_address_without_a_host_is_refused_at_once(
    world: World, database: sa.Engine, tmp_path: Path, url: str
) -> None:
    with pytest.raises(RequestError):
        await deliveries(world, database, tmp_path).allow(
            schedule(HOOK.model_copy(update={"url": url or "://"}))
        )


async def test_a_secret_that_is_not_there_is_refused_at_once(
    world: World, database: sa.Engine, tmp_path: Path
) -> None:
    other = schedule(HOOK.model_copy(update={"secret": "OTHER"}))
    with pytest.raises(ResourceNotFound, match="OTHER"):
        await deliveries(world, database, tmp_path).allow(other)
    assert Grants(database).read() == ()


class MailServer:
    """Takes mail over TLS, for one password."""

    def __init__(self, password: str) -> None:
        self._password, self.mails = password, list[bytes]()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        def say(*lines: str) -> None:
            writer.write("".join(f"{line}\r\n" for line in lines).encode())

        say("220 mail")
        while line := (await reader.readline()).decode().strip():
            match line.split()[0].upper():
                case "EHLO":
                    say("250-mail", "250 AUTH PLAIN")
                case "AUTH":
                    given = base64.b64decode(line.split()[-1]).decode()
                    good = given == f"\0me@world.example\0{self._password}"
                    say("235 ok" if good else "535 wrong")
                case "DATA":
                    say("354 go on")
                    self.mails.append(await reader.readuntil(b"\r\n.\r\n"))
                    say("250 ok")
                case "QUIT":
                    say("221 bye")
                    break
                case _:
                    say("250 ok")
        writer.close()


@asynccontextmanager
async def mail_server(tmp_path: Path, password: str) -> AsyncIterator[tuple[MailServer, Broker]]:
    authority, context = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("mail.world.example").configure_cert(context)
    authority.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    mails = MailServer(password)
    server = await asyncio.start_server(mails.serve, "127.0.0.1", 0, ssl=context)
    place = server.sockets[0].getsockname()

    async def resolve(host: str, port: int) -> list[str]:
        return ["203.1.113.7"]

    async with server:
        yield (
            mails,
            Broker(
                only_key,
                resolve=resolve,
                route=lambda address, port: (place[0], place[1]),
                authorities=str(tmp_path / "authority.pem"),
            ),
        )


@pytest.mark.parametrize("host", ["mail.world.example", "other.world.example"])
async def test_a_mail_has_the_result_and_the_files(
    database: sa.Engine, tmp_path: Path, host: str
) -> None:
    mail = ToMail(to="you@world.example", sender="me@world.example", server=host, secret="KEY")
    to_mail = schedule(mail)
    async with mail_server(tmp_path, CANARY) as (server, broker):
        sending = Deliveries(broker, Grants(database), only_key, tmp_path, ())
        await sending.allow(to_mail)
        if host.startswith("other"):  # the server has no certificate of that name
            with pytest.raises(NetworkRefused, match="does not take the mail"):
                await sending.deliver(to_mail, RAN)
            assert server.mails == []
            return
        await sending.deliver(to_mail, RAN)
    message = message_from_bytes(server.mails[0], policy=policy.default)
    body, attached = message.get_body(), list(message.iter_attachments())
    assert (message["To"], message["Message-ID"]) == (
        "you@world.example",
        f"<{'f' * 32}@selfeng.invalid>",
    )
    assert body is not None
    assert "The sum is 2." in body.get_content()
    assert [(a.get_filename(), a.get_content()) for a in attached] == [("chart.svg", b"<svg/>")]


async def test_a_wrong_password_is_an_error_that_does_not_tell_it(
    database: sa.Engine, tmp_path: Path
) -> None:
    mail = ToMail(
        to="you@world.example",
        sender="me@world.example",
        server="mail.world.example",
        secret="KEY",
    )
    async with mail_server(tmp_path, "another") as (_, broker):
        sending = Deliveries(broker, Grants(database), only_key, tmp_path, ())
        await sending.allow(schedule(mail))
        with pytest.raises(NetworkRefused, match="does not take the mail") as raised:
            await sending.deliver(schedule(mail), RAN)
    assert CANARY not in str(raised.value)
