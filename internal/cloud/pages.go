package cloud

import (
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// object is a JSON object of the API.
type object = map[string]any

// The sizes of pages.
const (
	usualPage   = 20
	largestPage = 200
)

// page answers with the part of a list that a request asks for, and with links to the other parts.
func page[T any](x *exchange, name string, all []T, show func(T) any) (int, any, error) {
	query := x.r.URL.Query()
	size := min(positive(query.Get("per_page"), usualPage), largestPage)
	number := positive(query.Get("page"), 1)
	last := max(1, (len(all)+size-1)/size)
	shown := []any{}
	for i := (number - 1) * size; i < min(number*size, len(all)); i++ {
		shown = append(shown, show(all[i]))
	}
	links := object{}
	if last > 1 {
		links["pages"] = x.pages(query, number, last)
	}
	return http.StatusOK, object{name: shown, "links": links, "meta": object{"total": len(all)}}, nil
}

// pages are the links from one page to the others.
func (x *exchange) pages(query url.Values, number, last int) object {
	to := func(page int) string {
		query.Set("page", strconv.Itoa(page))
		return x.link(x.r.URL.Path) + "?" + query.Encode()
	}
	pages := object{}
	if number > 1 {
		pages["first"], pages["prev"] = to(1), to(min(number-1, last))
	}
	if number < last {
		pages["next"], pages["last"] = to(number+1), to(last)
	}
	return pages
}

// link is the absolute URL of a path, as the client reached the API.
func (x *exchange) link(path string) string {
	scheme := "http"
	if x.r.TLS != nil {
		scheme = "https"
	}
	return scheme + "://" + x.r.Host + path
}

func positive(text string, otherwise int) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return otherwise
	}
	return n
}

// decimal is a number as it stands in a path.
func decimal(n int) string { return strconv.Itoa(n) }

// stamp is a time as the API writes it; none is null.
func stamp(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339)
}

// texts is a list that is never null.
func texts(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
