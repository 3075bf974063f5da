// Package similar finds the word that a misspelled one was probably meant to be.
package similar

import "strings"

// Closest is the candidate that a word is most likely a misspelling of, or "".
func Closest(word string, candidates []string) string {
	best, distance := "", max(1, len(word)/3)+1
	lower := strings.ToLower(word)
	for _, candidate := range candidates {
		if strings.EqualFold(candidate, word) {
			return candidate
		}
		if d := Edits(lower, strings.ToLower(candidate), distance); d < distance {
			best, distance = candidate, d
		}
	}
	return best
}

// Edits counts the letters to insert, delete, replace or swap with the next one; more than limit is limit+1.
func Edits(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	older, previous, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range previous {
		previous[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(previous[j]+1, row[j-1]+1, previous[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], older[j-2]+1)
			}
		}
		older, previous, row = previous, row, older
	}
	return previous[len(b)]
}
