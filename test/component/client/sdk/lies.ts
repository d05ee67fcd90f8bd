import {
  create,
  type DescField,
  type DescMessage,
  type Message,
  type MessageShape,
  ScalarType,
} from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";

/** A false field in a reply. */
export interface Lie {
  /** The path of the field, such as `failure.reason`. */
  readonly path: string;
  /** The change to the field. */
  readonly how: string;
  /** Changes the field of a reply in place. */
  tell(reply: Message): void;
}

/** A lie that makes a reply as large as the transport allows. */
const HUGE_BYTES = 1_000_000;
const HUGE_COUNT = 10_000;

/**
 * Returns every lie about every field of a message, including nested messages, by the message's descriptor. A field
 * that is added to the contract is covered automatically. `others` are values of the same kind that belong to other
 * users: object ids, digests and names.
 */
export function liesAbout(desc: DescMessage, others: readonly string[]): Lie[] {
  return desc.fields.flatMap((field) => liesAboutField(field, others));
}

function liesAboutField(field: DescField, others: readonly string[]): Lie[] {
  const lie = (how: string, change: (message: ReflectMessage) => void): Lie => ({
    path: field.localName,
    how,
    tell: (reply) => change(reflect(field.parent, reply as MessageShape<DescMessage>)),
  });
  const unset = lie("unset", (message) => message.clear(field));
  switch (field.fieldKind) {
    case "scalar":
      return [
        unset,
        ...falseScalars(field.scalar, others).map(([how, value]) =>
          lie(how, (message) => message.set(field, value(message.get(field)))),
        ),
      ];
    case "enum":
      return [
        unset,
        ...[...field.enum.values.map(({ number }) => number), 99].map((number) =>
          lie(`enum ${number}`, (message) => message.set(field, number)),
        ),
      ];
    case "message": {
      const inner = liesAbout(field.message, others).map(({ path, how, tell }) => ({
        path: `${field.localName}.${path}`,
        how,
        tell: (reply: Message) => {
          const message = reflect(field.parent, reply as MessageShape<DescMessage>);
          if (!message.isSet(field)) message.set(field, reflect(field.message, create(field.message)));
          tell((message.get(field) as ReflectMessage).message);
        },
      }));
      return [unset, ...inner];
    }
    case "list":
      return [
        unset,
        lie("first dropped", (message) => setList(message, field, (items) => items.slice(1))),
        lie("doubled", (message) => setList(message, field, (items) => [...items, ...items])),
        lie("huge", (message) =>
          setList(message, field, (items) =>
            Array.from({ length: HUGE_COUNT }, () => items[0] ?? emptyItem(field)),
          ),
        ),
        ...(field.listKind === "message"
          ? liesAbout(field.message, others).map(({ path, how, tell }) => ({
              path: `${field.localName}.${path}`,
              how,
              tell: (reply: Message) => {
                const message = reflect(field.parent, reply as MessageShape<DescMessage>);
                if (message.get(field).size === 0) setList(message, field, () => [emptyItem(field)]);
                for (const item of message.get(field)) tell((item as ReflectMessage).message);
              },
            }))
          : []),
        ...(field.listKind === "scalar"
          ? falseScalars(field.scalar, others).map(([how, value]) =>
              lie(`items ${how}`, (message) =>
                setList(message, field, (items) => (items.length ? items : [""]).map(value)),
              ),
            )
          : []),
      ];
    case "map":
      return [unset];
  }
}

type Change = (value: unknown) => unknown;

function falseScalars(type: ScalarType, others: readonly string[]): [how: string, change: Change][] {
  switch (type) {
    case ScalarType.STRING:
      return [
        ["changed", (value) => changedText(String(value))],
        ["huge", () => "f".repeat(HUGE_BYTES)],
        ["prototype", () => "__proto__"],
        ...others.map((other, at): [string, Change] => [`another's ${at}`, () => other]),
      ];
    case ScalarType.BYTES:
      return [
        ["one bit flipped", (value) => flipped(value as Uint8Array)],
        ["cut", (value) => (value as Uint8Array).slice(0, -1)],
        ["random", (value) => (value as Uint8Array).map((_, at) => (at * 89 + 7) % 256)],
        ["huge", () => new Uint8Array(HUGE_BYTES)],
      ];
    case ScalarType.BOOL:
      return [["turned", (value) => value !== true]];
    case ScalarType.INT64:
    case ScalarType.UINT64:
      return [["huge", () => 2n ** 63n - 1n]];
    case ScalarType.INT32:
    case ScalarType.UINT32:
      return [["huge", () => 2 ** 31 - 1]];
    default:
      throw new Error(`there is no lie yet about scalars of type ${ScalarType[type]}`);
  }
}

/** Replaces the last character with another digit, so that an id stays an id. */
function changedText(value: string): string {
  return value === "" ? "x" : value.slice(0, -1) + (value.endsWith("0") ? "1" : "0");
}

function flipped(bytes: Uint8Array): Uint8Array {
  if (bytes.length === 0) return Uint8Array.of(1);
  return bytes.map((byte, at) => (at === bytes.length >> 1 ? byte ^ 1 : byte));
}

type ListField = DescField & { fieldKind: "list" };

function setList(message: ReflectMessage, field: ListField, change: (items: unknown[]) => unknown[]): void {
  const list = message.get(field);
  const items = change([...list]);
  list.clear();
  for (const item of items) list.add(item as never);
}

function emptyItem(field: ListField): unknown {
  if (field.listKind === "message") return reflect(field.message, create(field.message));
  return field.listKind === "enum" ? 0 : "";
}
