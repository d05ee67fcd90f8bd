import { pathToString } from "@bufbuild/protobuf/reflect";
import type { ValidationError } from "@bufbuild/protovalidate";
import type { FieldViolation } from "./service-error.ts";

/** The violations of the rules in the protos, with field paths in proto names such as `items[0].dwallet_id`. */
export function violationsOf(error: ValidationError): FieldViolation[] {
  return error.violations.map(({ field, message }) => ({ field: pathToString(field), description: message }));
}
