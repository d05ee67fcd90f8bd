import {
  type DescMessage,
  fromJson,
  type JsonObject,
  type JsonValue,
  type Message,
} from "@bufbuild/protobuf";
import { TransportError, wrongField } from "../transport-error.ts";
import { findField } from "./field-path.ts";

/**
 * Decodes a message from JSON, unknown fields refused.
 * @throws TransportError VALIDATION that names the first field which does not decode, by its path in proto names
 */
export function decodeJson(desc: DescMessage, json: JsonValue): Message {
  try {
    return fromJson(desc, json);
  } catch (cause) {
    throw explain(desc, json, "") ?? new TransportError("VALIDATION", reasonOf(cause), { cause });
  }
}

/** Decodes one member after the other to find the one that fails; only failed requests pay for it. */
function explain(desc: DescMessage, json: JsonValue, prefix: string): TransportError | undefined {
  if (!isObject(json)) return undefined;
  for (const [name, value] of Object.entries(json)) {
    const failure = failureOf(desc, { [name]: value });
    if (failure === undefined) continue;
    const field = findField(desc, name);
    const path = prefix + (field?.name ?? name);
    if (field === undefined) return wrongField(path, "unknown field");
    const inner = field.fieldKind === "message" ? explain(field.message, value, `${path}.`) : undefined;
    return inner ?? wrongField(path, reasonOf(failure));
  }
  return undefined;
}

function failureOf(desc: DescMessage, json: JsonObject): unknown {
  try {
    fromJson(desc, json);
    return undefined;
  } catch (failure) {
    return failure ?? new Error("does not decode");
  }
}

function isObject(json: JsonValue): json is JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

/** What the JSON library says, without the name of the type. */
function reasonOf(failure: unknown): string {
  const text = failure instanceof Error ? failure.message : String(failure);
  return text.replace(/^cannot decode (?:message|field|enum|oneof) \S+ from JSON:? ?/, "") || "malformed";
}
