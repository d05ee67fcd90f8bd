import { type DescField, type DescMessage, type DescMethod, getOption, hasOption } from "@bufbuild/protobuf";
import { http } from "../../gen/proto/google/api/annotations_pb.ts";
import type { HttpRule } from "../../gen/proto/google/api/http_pb.ts";
import { findField } from "../../src/transport/rest/field-path.ts";

/** One way to reach a method over HTTP. */
export interface HttpBinding {
  readonly method: DescMethod;
  /** In lower case, as in OpenAPI's path items. */
  readonly verb: string;
  /** The path template of google.api.HttpRule. */
  readonly template: string;
  /** `"message"`: the whole request except the path's fields; a field: that part; `"none"`: no body. */
  readonly body: "none" | "message" | DescField;
  /** The field of the reply that becomes the body; undefined: the whole message. */
  readonly replyField: DescField | undefined;
  /** 0 for the method's own binding, then the additional ones. */
  readonly index: number;
}

/** The verbs of a path item in OpenAPI 3.1. */
const VERBS = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/**
 * Returns the bindings of a method's google.api.http annotation, including additional ones.
 * @throws Error for a rule that OpenAPI cannot express or that does not fit its method
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

export function misfit(method: DescMethod, why: string): Error {
  return new Error(`the google.api.http rule of ${method.parent.typeName}.${method.name}: ${why}`);
}
