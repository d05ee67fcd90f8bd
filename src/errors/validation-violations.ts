import { pathToString } from "@bufbuild/protobuf/reflect";
import type { ValidationError } from "@bufbuild/protovalidate";
import type { FieldViolation } from "./service-error.ts";

/** The first violations of the rules in the protos, with field paths in proto names such as `items[0].dwallet_id`. */
export function violationsOf(error: ValidationError): FieldViolation[] {
  return error.violations
    .slice(0, MAX_VIOLATIONS_COUNT)
    .map(({ field, message }) => ({ field: pathToString(field), description: message }));
}

/** The maximum number of violations in a reply. A caller starts with the first ones anyway. */
const MAX_VIOLATIONS_COUNT = 20;
