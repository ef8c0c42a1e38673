"""One agent's loop on each SDK, printed as it happens, so that two runs can be compared."""
import base64, json, sys

import anthropic
import openai

URL, RESULT_CHARS, TURNS = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
PIXEL = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
PIXEL = base64.b64encode(PIXEL).decode()


def result(name, arguments):
    text = f"{name} {json.dumps(arguments, sort_keys=True)}\n"
    return text + "".join(f"{line}: value {line * 7}\n" for line in range(RESULT_CHARS // 16))


SCHEMA = {"type": "object", "properties": {"file_path": {"type": "string"}, "command": {"type": "string"}}}
NAMES = ["Read", "Bash"]


def say(*words):
    print(*words, flush=True)


def chat():
    client = openai.OpenAI(base_url=URL + "/v1", api_key="sk-secret-key", max_retries=0)
    tools = [{"type": "function", "function": {"name": name, "description": name, "parameters": SCHEMA}} for name in NAMES]
    messages = [{"role": "system", "content": "Careful."}, {"role": "user", "content": [
        {"type": "text", "text": "Look through every module."},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64," + PIXEL}}]}]
    for _ in range(TURNS):
        text, calls = "", {}
        stream = client.chat.completions.create(model="gpt-5", messages=messages, tools=tools, stream=True,
                                                stream_options={"include_usage": True})
        for chunk in stream:
            say("chat", chunk.model_dump_json(exclude={"usage", "created"}))
            for choice in chunk.choices:
                text += choice.delta.content or ""
                for call in choice.delta.tool_calls or []:
                    known = calls.setdefault(call.index, {"id": "", "type": "function", "function": {"name": "", "arguments": ""}})
                    known["id"] += call.id or ""
                    known["function"]["name"] += call.function.name or ""
                    known["function"]["arguments"] += call.function.arguments or ""
        message = {"role": "assistant", "content": text or None}
        if calls:
            message["tool_calls"] = [calls[index] for index in sorted(calls)]
        messages.append(message)
        if not calls:
            return
        for call in message["tool_calls"]:
            function = call["function"]
            messages.append({"role": "tool", "tool_call_id": call["id"],
                             "content": result(function["name"], json.loads(function["arguments"]))})
    raise SystemExit("chat: no end")


def responses():
    client = openai.OpenAI(base_url=URL + "/v1", api_key="sk-secret-key", max_retries=0)
    tools = [{"type": "function", "name": name, "parameters": SCHEMA, "strict": False} for name in NAMES]
    items = [{"role": "user", "content": "Look through every module."}]
    for _ in range(TURNS):
        done = None
        for event in client.responses.create(model="gpt-5", input=items, tools=tools, stream=True, store=False):
            say("responses", event.type)
            if event.type == "response.completed":
                done = event.response
        output = [item.model_dump(exclude_none=True) for item in done.output]
        say("responses", json.dumps(output, sort_keys=True))
        items += output
        calls = [item for item in done.output if item.type == "function_call"]
        if not calls:
            return
        for call in calls:
            items.append({"type": "function_call_output", "call_id": call.call_id,
                          "output": result(call.name, json.loads(call.arguments))})
    raise SystemExit("responses: no end")


def messages():
    client = anthropic.Anthropic(base_url=URL, api_key="sk-secret-key", max_retries=0)
    tools = [{"name": name, "input_schema": SCHEMA} for name in NAMES]
    talk = [{"role": "user", "content": [
        {"type": "text", "text": "Look through every module."},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}]}]
    for _ in range(TURNS):
        arguments = {"model": "claude-sonnet-4-5", "messages": talk, "tools": tools}
        counted = client.messages.count_tokens(**arguments)
        assert counted.input_tokens > 0
        with client.messages.stream(max_tokens=1000, **arguments) as stream:
            for event in stream:
                say("messages", event.type)
            answer = stream.get_final_message()
        content = [block.model_dump(exclude_none=True) for block in answer.content]
        say("messages", json.dumps(content, sort_keys=True))
        talk.append({"role": "assistant", "content": [{key: block[key] for key in block if key != "parsed_output"} for block in content]})
        calls = [block for block in answer.content if block.type == "tool_use"]
        if not calls:
            return
        talk.append({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": call.id, "content": result(call.name, call.input)} for call in calls]})
    raise SystemExit("messages: no end")


def errors():
    for status, make in [(400, lambda: openai.OpenAI(base_url=URL + "/v1", api_key="k", max_retries=0)
                          .chat.completions.create(model="gpt-5", messages=[{"role": "tool", "tool_call_id": "x", "content": "y"}]))]:
        try:
            make()
            raise SystemExit("taken")
        except openai.APIStatusError as error:
            assert error.status_code == status, error
            say("error", error.status_code, json.dumps(error.body, sort_keys=True))


for part in (chat, responses, messages, errors):
    part()
