import { create, type DescField, type DescMessage, type DescService } from "@bufbuild/protobuf";
import { pathToString, type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import { createValidator, type ValidationError, type Validator } from "@bufbuild/protovalidate";
import type { Interceptor, StreamRequest } from "@connectrpc/connect";
import { createValidateInterceptor } from "@connectrpc/validate";
import type { FieldViolation } from "./service-error.ts";

/** The interceptor that enforces the protos' field rules. It compiles the rules of these services in advance. */
export function createWarmValidateInterceptor(services: readonly DescService[]): Interceptor {
  const requests = services.flatMap(({ methods }) => methods.map(({ input }) => input));
  const validate = createValidateInterceptor({ validator: createBoundedValidator(requests) });
  return (next) => {
    const checked = validate(next);
    return (request) => {
      if (!request.stream) return checked(request);
      // The library copies a stream's request, which creates its signal. That costs as much as the rest of an idle
      // stream. So the request object stays the same and takes only the messages of the copy.
      return validate((copy) => next(Object.assign(request, { message: copy.message })))(
        withoutSignal(request),
      );
    };
  };
}

function withoutSignal({
  method,
  service,
  requestMethod,
  message,
  contextValues,
  header,
}: StreamRequest): StreamRequest {
  const { signal } = NEVER;
  return { stream: true, method, service, requestMethod, url: "", message, contextValues, header, signal };
}

const NEVER = new AbortController();

/**
 * Creates a validator for the protos' rules. Its work does not grow with the number of violations. The first pass stops
 * at the first violation, and checks the size of a list before its items. A second pass collects all violations for the
 * caller, but only in messages with few items.
 * @param messages the messages whose rules are compiled now: compiling them at the first request would block the event
 *   loop for tens of milliseconds
 */
export function createBoundedValidator(messages: readonly DescMessage[] = []): Validator {
  for (const desc of messages) if (!warm.has(desc)) first.validate(desc, create(desc));
  for (const desc of messages) warm.add(desc);
  return {
    validate(schema, message) {
      const result = first.validate(schema, message);
      if (result.kind !== "invalid") return result;
      const items = countItems(reflect(schema, message), THOROUGH_ITEMS_COUNT);
      return items > THOROUGH_ITEMS_COUNT ? result : every.validate(schema, message);
    },
  };
}

// A process needs the rules once. Those of the second pass are compiled for the first invalid message of a type.
const first = createValidator({ failFast: true, regexMatch: matchPattern });
const every = createValidator({ regexMatch: matchPattern });
const warm = new WeakSet<DescMessage>();

/** If a message has more items in its lists and maps than this, only its first violation is reported. */
const THOROUGH_ITEMS_COUNT = 256;
/** No pattern of the contract matches a longer text, and the time to match grows with the text. */
const PATTERN_TEXT_CHARS = 4096;

const patterns = new Map<string, RegExp>();

/** All patterns come from the contract, so there are few of them, and none backtracks. */
function matchPattern(pattern: string, text: string): boolean {
  if (text.length > PATTERN_TEXT_CHARS) return false;
  let compiled = patterns.get(pattern);
  if (compiled === undefined) {
    compiled = new RegExp(pattern, "u");
    patterns.set(pattern, compiled);
  }
  return compiled.test(text);
}

/** Counts the items in all lists and maps of a message. Stops soon after `enough`. */
function countItems(message: ReflectMessage, enough: number): number {
  let count = 0;
  for (const field of message.fields) {
    if (field.fieldKind === "list" || field.fieldKind === "map") count += message.get(field).size;
    for (const inner of messagesIn(message, field)) {
      if (count > enough) return count;
      count += countItems(inner, enough - count);
    }
  }
  return count;
}

function messagesIn(message: ReflectMessage, field: DescField): Iterable<ReflectMessage> {
  if (field.fieldKind === "message") return message.isSet(field) ? [message.get(field)] : [];
  if (field.fieldKind === "list" && field.listKind === "message")
    return message.get(field) as Iterable<ReflectMessage>;
  if (field.fieldKind === "map" && field.mapKind === "message")
    return message.get(field).values() as Iterable<ReflectMessage>;
  return [];
}

/** The first violations of the rules in the protos, with field paths in proto names such as `items[0].dwallet_id`. */
export function violationsOf(error: ValidationError): FieldViolation[] {
  return error.violations
    .slice(0, MAX_VIOLATIONS_COUNT)
    .map(({ field, message }) => ({ field: pathToString(field), description: message }));
}

/** The maximum number of violations in a reply. A caller starts with the first ones anyway. */
const MAX_VIOLATIONS_COUNT = 20;
