"""A service desk in Python, tested from wherever it runs: on a laptop, while the fleet plays the conversations.

    pip install -r requirements.txt
    TEMPORAL_ADDRESS=127.0.0.1:7233 python worker.py
"""

import asyncio
import os
import re
import uuid

from temporalio import activity
from temporalio.client import Client
from temporalio.exceptions import ApplicationError
from temporalio.worker import Worker

NAME = "desk"  # the sweep file says `target: { queue: desk }`
THINK_SECONDS = float(os.environ.get("THINK_SECONDS", "0"))

# The desk's memory: by session, what it knows and what it answered to which key.
sessions: dict[str, dict] = {}


@activity.defn(name="target_turn")
async def target_turn(turn: dict) -> dict:
    """Answers one message; the same key gets the same answer."""
    session_id = turn["session_id"] or str(uuid.uuid4())
    if turn["session_id"] is None:
        sessions[session_id] = {"ticket": None, "answers": {}}
    session = sessions.get(session_id)
    if session is None:
        # The worker was started anew: the conversation begins again (`on_lost_session`).
        raise ApplicationError("no such session", type="lost_session", non_retryable=True)
    key = turn["idempotency_key"]
    if key not in session["answers"]:
        await asyncio.sleep(THINK_SECONDS)
        session["answers"][key] = answer(session, turn["latest_message"])
    return {**session["answers"][key], "session_id": session_id}


def answer(session: dict, said: str | None) -> dict:
    if said is None:
        return {"text": "Service desk, what can I do for you?"}
    if re.search(r"\bthank", said, re.IGNORECASE):
        return {"text": "You are welcome."}
    known = session["ticket"]
    if known is not None:
        return {"text": f"Ticket {known} is solved: your account is unlocked."}
    found = re.search(r"\b[A-Z]-\d+\b", said)
    if found is None:
        return {"text": "Hello. What is your ticket number?"}
    session["ticket"] = found.group()
    return {
        "text": f"I have ticket {found.group()}. Shall I unlock the account?",
        "tool_calls": [{"name": "find_ticket", "args": {"ticket": found.group()}}],
    }


async def main() -> None:
    client = await Client.connect(os.environ.get("TEMPORAL_ADDRESS", "127.0.0.1:7233"))
    worker = Worker(client, task_queue=f"target.{NAME}", activities=[target_turn])
    print(f"serving target.{NAME}", flush=True)
    await worker.run()


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        pass
