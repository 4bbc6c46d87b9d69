"""A proxy between one node and etcd, which can mistreat transactions that write.

Usage: proxy.py PORT=HOST:PORT …

Reads a command a line: `drop N` (the next N are carried out, but their answers get lost), `delay SECONDS` (the next one
is kept for so long, and sent then, whoever still waits for it), `twice N` (the next N are sent twice, and the second
answer is passed on), `clear`. Prints a line for each transaction that it has mistreated, when that is over.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator

# What the next writing transactions suffer, in order: pairs of a kind and seconds.
ailments: list[tuple[str, float]] = []
# The loop itself does not keep what it runs from being collected.
mistreated: set[asyncio.Task[bytes | None]] = set()


def is_write(path: str, body: bytes) -> bool:
    if path != "/v3/kv/txn":
        return False
    try:
        transaction = json.loads(body)
    except ValueError:
        return False
    return any("requestPut" in each or "request_put" in each for each in transaction.get("success") or [])


async def read_head(reader: asyncio.StreamReader) -> tuple[bytes, dict[str, str]] | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    fields = {}
    for line in head.decode("latin-1").split("\r\n")[1:]:
        name, found, value = line.partition(":")
        if found:
            fields[name.lower()] = value.strip()
    return head, fields


async def pieces(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """An answer, piece by piece."""
    found = await read_head(reader)
    if found is None:
        raise ConnectionError("etcd has closed the connection")
    head, fields = found
    yield head
    if "chunked" not in fields.get("transfer-encoding", ""):
        yield await reader.readexactly(int(fields.get("content-length", "0")))
        return
    size = 1
    while size:
        line = await reader.readline()
        size = int(line.split(b";")[0], 16)
        yield line + (await reader.readexactly(size + 2) if size else b"")
    # Refusals of etcd's gateway have fields after the last chunk.
    while line != b"\r\n":
        line = await reader.readline()
        if not line:
            raise ConnectionError("etcd has closed the connection")
        yield line


async def read_answer(reader: asyncio.StreamReader) -> bytes:
    """A whole answer."""
    return b"".join([piece async for piece in pieces(reader)])


async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Passes on an answer that goes on for long."""
    async for piece in pieces(reader):
        writer.write(piece)
        await writer.drain()


async def ask(address: tuple[str, int], request: bytes) -> bytes:
    """Sends a request over a connection of its own, and reads the answer."""
    reader, writer = await asyncio.open_connection(*address)
    try:
        writer.write(request)
        await writer.drain()
        return await read_answer(reader)
    finally:
        writer.close()


async def mistreat(address: tuple[str, int], request: bytes, kind: str, seconds: float) -> bytes | None:
    try:
        if kind == "delay":
            print("caught", flush=True)
            await asyncio.sleep(seconds)
        answer = await ask(address, request)
        if kind == "twice":
            answer = await ask(address, request)
        print(kind, answer[-200:].decode("latin-1").strip().replace("\n", " "), flush=True)
        return None if kind == "drop" else answer
    except (OSError, asyncio.IncompleteReadError) as error:
        print(kind, "failed", repr(error), flush=True)
        return None


async def pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while piece := await reader.read(1 << 16):
        writer.write(piece)
        await writer.drain()


async def serve(client: asyncio.StreamReader, to_client: asyncio.StreamWriter, address: tuple[str, int]) -> None:
    upstream: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
    try:
        while found := await read_head(client):
            head, fields = found
            if "expect" in fields:
                to_client.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            body = await client.readexactly(int(fields.get("content-length", "0")))
            path = head.split(b" ", 2)[1].decode()
            if ailments and is_write(path, body):
                # It goes on, whatever becomes of this connection.
                task = asyncio.create_task(mistreat(address, head + body, *ailments.pop(0)))
                mistreated.add(task)
                task.add_done_callback(mistreated.discard)
                answer = await asyncio.shield(task)
                if answer is None:
                    return
                to_client.write(answer)
                await to_client.drain()
                continue
            if upstream is None:
                upstream = await asyncio.open_connection(*address)
            upstream[1].write(head + body)
            await upstream[1].drain()
            if path.startswith("/v3/watch"):
                # Its end is that of the connection, so that no other request comes through unseen.
                tasks = [asyncio.ensure_future(pass_on(upstream[0], to_client)),
                         asyncio.ensure_future(pipe(client, upstream[1]))]
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                for task in tasks:
                    task.cancel()
                return
            to_client.write(await read_answer(upstream[0]))
            await to_client.drain()
    except (OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        pass
    finally:
        to_client.close()
        if upstream:
            upstream[1].close()


async def read_commands() -> None:
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    while line := await lines.readline():
        # The log has it; what is printed otherwise has been mistreated.
        print("told", line.decode().strip(), file=sys.stderr, flush=True)
        kind, _, value = line.decode().strip().partition(" ")
        if kind == "clear":
            ailments.clear()
        elif kind == "delay":
            ailments.append((kind, float(value)))
        else:
            ailments.extend([(kind, 0.0)] * int(value))


async def main() -> None:
    for argument in sys.argv[1:]:
        port, _, target = argument.partition("=")
        host, _, target_port = target.rpartition(":")
        address = (host, int(target_port))
        await asyncio.start_server(lambda reader, writer, address=address: serve(reader, writer, address),
                                   "127.0.0.1", int(port), limit=1 << 22)
    print("ready", flush=True)
    await read_commands()


if __name__ == "__main__":
    asyncio.run(main())
