/// The part of Move's vectors that the Treasury and its tests use.
#[defines_primitive(vector)]
module std::vector;

#[bytecode_instruction]
public native fun empty<Element>(): vector<Element>;

#[bytecode_instruction]
public native fun length<Element>(v: &vector<Element>): u64;

#[bytecode_instruction, syntax(index)]
public native fun borrow<Element>(v: &vector<Element>, i: u64): &Element;

#[bytecode_instruction]
public native fun push_back<Element>(v: &mut vector<Element>, e: Element);

#[bytecode_instruction, syntax(index)]
public native fun borrow_mut<Element>(v: &mut vector<Element>, i: u64): &mut Element;

#[bytecode_instruction]
public native fun pop_back<Element>(v: &mut vector<Element>): Element;

#[bytecode_instruction]
public native fun destroy_empty<Element>(v: vector<Element>);

#[bytecode_instruction]
public native fun swap<Element>(v: &mut vector<Element>, i: u64, j: u64);

public fun is_empty<Element>(v: &vector<Element>): bool {
    v.length() == 0
}

public fun reverse<Element>(v: &mut vector<Element>) {
    let mut i = 0;
    while (i < v.length() / 2) {
        let mirrored = v.length() - 1 - i;
        v.swap(i, mirrored);
        i = i + 1;
    }
}

public fun contains<Element>(v: &vector<Element>, e: &Element): bool {
    let mut i = 0;
    while (i < v.length()) {
        if (&v[i] == e) return true;
        i = i + 1;
    };
    false
}

public fun append<Element>(v: &mut vector<Element>, mut other: vector<Element>) {
    other.reverse();
    while (!other.is_empty()) v.push_back(other.pop_back());
    other.destroy_empty();
}
