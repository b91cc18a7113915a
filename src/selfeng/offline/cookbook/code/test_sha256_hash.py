from sha256_hash import sha256_hash


def test_hash_of_a_word():
    assert sha256_hash(text="hello") == "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"


def test_hash_of_letters():
    assert sha256_hash(text="abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_hash_of_the_empty_text():
    assert sha256_hash(text="") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_equal_texts_have_equal_hashes_and_others_do_not():
    assert sha256_hash(text="Hello") == "185f8db32271fe25f561a6fc938b2e264306ec304eda518007d1764826381969"
