import type { DescEnum } from "@bufbuild/protobuf";
import type { ComponentChildren, JSX } from "preact";
import { useId } from "preact/hooks";

/**
 * A labelled single-line input. It takes a text of any length and names the fault of the text, so that nothing of a
 * pasted text is lost without a word.
 */
export function TextField({
  label,
  hint,
  value,
  onInput,
  fault,
  isSecret = false,
  ...input
}: TextFieldProps): JSX.Element {
  const id = useId();
  const kind = isSecret ? ({ type: "password" } as const) : ({ type: "text" } as const);
  const notes = [hint !== undefined && `${id}-hint`, fault !== undefined && `${id}-fault`].filter(Boolean);
  const described = notes.length === 0 ? {} : { "aria-describedby": notes.join(" ") };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        {...input}
        {...kind}
        id={id}
        value={value}
        autocomplete="off"
        spellcheck={false}
        {...described}
        aria-invalid={fault !== undefined}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      <p class="field-fault" id={`${id}-fault`} role="status">
        {fault}
      </p>
    </div>
  );
}

interface TextFieldProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly value: string;
  onInput(value: string): void;
  /** What is wrong with the value, as a sentence; undefined while it is right or nothing was typed. */
  readonly fault?: string | undefined;
  readonly required?: boolean;
  readonly autofocus?: boolean;
  /** True to hide the typed text. */
  readonly isSecret?: boolean;
  readonly inputMode?: "decimal" | "numeric";
}

/** A labelled day of the calendar, as `2027-01-31`; empty for none. */
export function DateField({ label, value, fault, onInput }: DateFieldProps): JSX.Element {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        type="date"
        id={id}
        value={value}
        min="1970-01-01"
        max="9998-12-30"
        aria-invalid={fault !== undefined}
        aria-describedby={`${id}-fault`}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      <p class="field-fault" id={`${id}-fault`} role="status">
        {fault}
      </p>
    </div>
  );
}

interface DateFieldProps {
  readonly label: string;
  readonly value: string;
  /** What is wrong with the value, as a sentence. */
  readonly fault?: string | undefined;
  onInput(value: string): void;
}

/** A labelled select. */
export function SelectField<Value extends string>(props: SelectFieldProps<Value>): JSX.Element {
  const { label, options, value, isInline = false, onSelect } = props;
  const id = useId();
  return (
    <div class={isInline ? "field field-inline" : "field"}>
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onSelect(event.currentTarget.value as Value)}>
        {options.map(([option, name]) => (
          <option key={option} value={option}>
            {name}
          </option>
        ))}
      </select>
    </div>
  );
}

interface SelectFieldProps<Value extends string> {
  readonly label: string;
  /** Values with their names. */
  readonly options: readonly (readonly [Value, string])[];
  readonly value: Value;
  /** True to place the label beside the select. */
  readonly isInline?: boolean;
  onSelect(value: Value): void;
}

/** Returns the values of an enum with their names, for a choice. Omits the unspecified one. */
export function enumOptions(schema: DescEnum): (readonly [string, string])[] {
  return schema.values.filter(({ number }) => number !== 0).map(({ number, name }) => [`${number}`, name]);
}
