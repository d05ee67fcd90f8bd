import { type DescField, type DescMessage, type DescMethod, getOption, hasOption } from "@bufbuild/protobuf";
import { http } from "../../gen/proto/google/api/annotations_pb.ts";
import type { HttpRule } from "../../gen/proto/google/api/http_pb.ts";
import { findField } from "../../src/transport/rest/field-path.ts";

/** One way to reach a method over HTTP. */
export interface HttpBinding {
  readonly method: DescMethod;
  /** In lower case, as OpenAPI's path items have it. */
  readonly verb: string;
  /** The path template of google.api.HttpRule. */
  readonly template: string;
  /** `"message"`: the whole request but what the path gives; a field: that part; `"none"`: no body. */
  readonly body: "none" | "message" | DescField;
  /** The field of the reply that is the reply's body; the whole message when there is none. */
  readonly replyField: DescField | undefined;
  /** 0 for the method's own binding, then the additional ones. */
  readonly index: number;
}

/** What a path item of OpenAPI 3.1 can hold. */
const VERBS = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/**
 * The bindings of a method's google.api.http annotation, additional ones included.
 * @throws Error for a rule that OpenAPI cannot say or that does not fit its method
 */
export function httpBindings(method: DescMethod): HttpBinding[] {
  if (!hasOption(method, http)) return [];
  const rule = getOption(method, http);
  return [rule, ...rule.additionalBindings].map((one, index) => toBinding(method, one, index));
}

function toBinding(method: DescMethod, rule: HttpRule, index: number): HttpBinding {
  const { pattern, body, responseBody } = rule;
  if (pattern.case === undefined) throw misfit(method, "it has no pattern");
  const [verb, template] =
    pattern.case === "custom"
      ? [pattern.value.kind.toLowerCase(), pattern.value.path]
      : [pattern.case, pattern.value];
  if (!VERBS.includes(verb)) throw misfit(method, `OpenAPI has no operations of the method ${verb}`);
  return {
    method,
    verb,
    template,
    body: body === "" ? "none" : body === "*" ? "message" : fieldNamed(method, method.input, body),
    replyField: responseBody === "" ? undefined : fieldNamed(method, method.output, responseBody),
    index,
  };
}

function fieldNamed(method: DescMethod, message: DescMessage, name: string): DescField {
  const field = findField(message, name);
  if (field === undefined) throw misfit(method, `there is no field ${name}`);
  return field;
}

/** An annotation that cannot be described. */
export function misfit(method: DescMethod, why: string): Error {
  return new Error(`the google.api.http rule of ${method.parent.typeName}.${method.name}: ${why}`);
}
