import { create, type DescMessage, type JsonValue, type Message, toBinary, toJson } from "@bufbuild/protobuf";
import { base64Encode } from "@bufbuild/protobuf/wire";
import type { ConnectError } from "@connectrpc/connect";

/** Converts an error to google.rpc.Status in JSON. Details of unknown types keep their bytes in `value`. */
export function statusJson(error: ConnectError): JsonValue {
  return { code: error.code, message: error.rawMessage, details: error.details.map(detailJson) };
}

type Detail = ConnectError["details"][number];

function detailJson(detail: Detail): JsonValue {
  if (!("desc" in detail)) {
    return { "@type": typeUrl(detail.type), value: base64Encode(detail.value) };
  }
  const desc: DescMessage = detail.desc;
  const message = create(desc, detail.value);
  const json = jsonOf(desc, message);
  // It contains a message of an unknown type.
  if (json === undefined)
    return { "@type": typeUrl(desc.typeName), value: base64Encode(toBinary(desc, message)) };
  // Well-known types with their own JSON form go into `value`, as Any's mapping requires.
  const isObject = typeof json === "object" && json !== null && !Array.isArray(json);
  return isObject
    ? { "@type": typeUrl(desc.typeName), ...json }
    : { "@type": typeUrl(desc.typeName), value: json };
}

function jsonOf(desc: DescMessage, message: Message): JsonValue | undefined {
  try {
    return toJson(desc, message);
  } catch {
    return undefined;
  }
}

function typeUrl(typeName: string): string {
  return `type.googleapis.com/${typeName}`;
}
