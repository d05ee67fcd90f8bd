module sui::vec_set;

const EKeyAlreadyExists: u64 = 0;
const EKeyDoesNotExist: u64 = 1;

public struct VecSet<K: copy + drop> has copy, drop, store { contents: vector<K> }

public fun empty<K: copy + drop>(): VecSet<K> {
    VecSet { contents: vector[] }
}

public fun insert<K: copy + drop>(self: &mut VecSet<K>, key: K) {
    assert!(!self.contains(&key), EKeyAlreadyExists);
    self.contents.push_back(key);
}

public fun remove<K: copy + drop>(self: &mut VecSet<K>, key: &K) {
    assert!(self.contains(key), EKeyDoesNotExist);
    let mut kept = vector[];
    while (!self.contents.is_empty()) {
        let one = self.contents.pop_back();
        if (&one != key) kept.push_back(one);
    };
    kept.reverse();
    self.contents = kept;
}

public fun contains<K: copy + drop>(self: &VecSet<K>, key: &K): bool {
    self.contents.contains(key)
}
