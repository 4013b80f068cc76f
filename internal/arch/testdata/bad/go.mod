// A module of this name that breaks the import rules, for the test of the test.
module github.com/effectonce/effectonce

go 1.26.0
