import { describe, expect, it } from "vitest";
import { visibleText } from "../../../src/console/design/form/show-controls.ts";
import {
  actionFault,
  addressesFault,
  addressesIn,
  adminNameFault,
  amountFault,
  countFault,
  digestFault,
  lastDayFault,
  lengthFault,
  nameFault,
  originsFault,
  originsIn,
  prefixFault,
  projectIdFault,
} from "../../../src/console/format/input-faults.ts";

describe("the fault of a typed text", () => {
  it.each([
    ["a name of 100 characters", nameFault("x".repeat(100))],
    ["a name of 100 characters outside the BMP", nameFault("\u{1f511}".repeat(100))],
    ["an amount", amountFault(" -$1,000.25 ")],
    ["a sign, after which an amount may follow", amountFault("-")],
    ["a count", countFault("100", 100)],
    ["an action", actionFault(" api_key.revoke ")],
    ["an action with hyphens", actionFault("encryption-key.register")],
    ["a span of one day", lastDayFault("2026-02-02", "2026-02-02")],
    ["a digest", digestFault(` ${"A".repeat(44)} `)],
    ["an admin key's name", adminNameFault("ci-2027.a_b")],
    ["a project's id", projectIdFault("0190163D-8694-739b-aea5-966c26f8ad91")],
    ["origins", originsFault("https://app.example, http://localhost:5173\nhttp://a.localhost *")],
    ["the beginning of a reference", prefixFault("user/10 ")],
    ["addresses", addressesFault("203.0.113.7, 10.0.0.0/8\n2001:db8::/32 ::1,::ffff:10.0.0.1")],
  ])("is absent for %s", (_, fault) => {
    expect(fault).toBeUndefined();
  });

  it("is absent for an empty text", () => {
    for (const fault of [
      nameFault,
      amountFault,
      digestFault,
      adminNameFault,
      projectIdFault,
      addressesFault,
      originsFault,
      prefixFault,
    ])
      expect(fault("")).toBeUndefined();
    expect(countFault("", 9)).toBeUndefined();
  });

  it.each([
    ["a pasted name", nameFault("x".repeat(134)), "This has 134 characters, and 100 are allowed."],
    ["a long reason", lengthFault("x".repeat(201), 200), "This has 201 characters, and 200 are allowed."],
    ["a name with a tab", nameFault("a\tb"), "A name has no tabs or other control characters."],
    ["an exponent", amountFault("1e3"), "Write an amount such as 12.50, with at most six decimals."],
    ["nothing to book", amountFault("0.00"), "An amount of zero changes nothing."],
    ["a count of zero", countFault("0", 100), "Write a whole number from 1 to 100, in digits."],
    ["a negative count", countFault("-1", 100), "Write a whole number from 1 to 100, in digits."],
    ["a count above the maximum", countFault("101", 100), "Write a whole number from 1 to 100, in digits."],
    ["a short digest", digestFault("abc"), "A digest has 43 or 44 characters, and this has 3."],
    ["a digest in hex", digestFault("0x12"), "A digest in base 58 cannot contain “0”."],
    [
      "an action of one word",
      actionFault("revoke"),
      "An action has two words with a dot between them, such as api_key.revoke.",
    ],
    [
      "days in the wrong order",
      lastDayFault("2026-02-02", "2026-02-01"),
      "The last day comes before the first one.",
    ],
    ["an upper-case name", adminNameFault("Alice"), "The name begins with a lower-case letter or a digit."],
    ["a name with a space", adminNameFault("a b"), "The name cannot contain “ ”."],
  ])("says what is wrong with %s", (_, fault, sentence) => {
    expect(fault).toBe(sentence);
  });

  it.each([
    ...[
      "app.example",
      "https://app.example/",
      "http://app.example",
      "https://*.example",
      "HTTPS://app.example",
    ],
    ...["http://localhost.example", "javascript:1"],
  ])("names the wrong origin %s, and shows an example of a right one", (origin) => {
    expect(originsFault(`https://app.example, ${origin}`)).toBe(
      `“${origin}” is no origin, such as https://app.example. http is for localhost alone.`,
    );
  });

  it("counts origins as they are sent, each once", () => {
    const many = Array.from({ length: 17 }, (_, index) => `https://a${index}.example`).join(" ");
    expect(originsFault(many)).toBe("These are 17 origins, and 16 are allowed.");
    expect(originsIn("* https://a.example,https://a.example")).toEqual(["*", "https://a.example"]);
  });

  it("names the character that no reference has", () => {
    expect(prefixFault("usér")).toBe("A reference has only ASCII characters, and cannot contain “é”.");
    expect(prefixFault("x".repeat(129))).toBe("This has 129 characters, and 128 are allowed.");
  });

  it.each([
    ...["10.0.0", "10.0.0.256", "10.0.0.1.", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/8/8", "example.com"],
    ...["2001:db8::/129", ":::1", "fe80::1%eth0", "[::1]", "0x0a.1.1.1"],
  ])("names the wrong address %s, and shows examples of right ones", (address) => {
    expect(addressesFault(`203.0.113.7, ${address}`)).toBe(
      `“${address}” is no IP address or CIDR block, such as 203.0.113.7, 10.0.0.0/8 or 2001:db8::/32.`,
    );
  });

  it("counts each address once, up to 64", () => {
    const many = Array.from({ length: 65 }, (_, index) => `10.0.0.${index}`);
    expect(addressesFault(many.join(" "))).toBe("These are 65 addresses, and 64 are allowed.");
    expect(addressesIn("10.0.0.1,10.0.0.1 10.0.0.2")).toEqual(["10.0.0.1", "10.0.0.2"]);
  });
});

describe("a text of a page", () => {
  it("shows characters that would change its direction or hide", () => {
    expect(visibleText("invoice\u202efdp.exe")).toBe("invoice⟨U+202E⟩fdp.exe");
    expect(visibleText("a\u200bb\u2066c\u0007d\u009be")).toBe("a⟨U+200B⟩b⟨U+2066⟩c⟨U+0007⟩d⟨U+009B⟩e");
  });

  it("keeps lines, tabs, joiners and the letters of every script", () => {
    for (const text of ["a\n\tb", "👩\u200d💻", "نص عربي", "עברית", "क्‍ष"])
      expect(visibleText(text)).toBe(text);
  });
});
