// Package plot draws lines over logarithmic axes, as SVG.
package plot

import (
	"fmt"
	"html"
	"io"
	"math"
)

// Line is one line of a plot. Values that are not positive are left out.
type Line struct {
	Name string
	Y    []float64
}

const (
	width, height            = 760, 420
	left, right, top, bottom = 70, 210, 40, 50
)

// The first is for what the others are compared with.
var colours = []string{"#888888", "#0b6fb8", "#e08a00", "#c0392b", "#27864a", "#7d4fa0", "#7a5c3c", "#d6409f", "#16a0a0", "#444444", "#a3a300", "#f08080"}

// Draw writes a plot of the lines over x, which like the values is positive.
func Draw(out io.Writer, title, xName, yName string, x []float64, lines []Line) error {
	low, high := math.Inf(1), math.Inf(-1)
	for _, l := range lines {
		for _, y := range l.Y {
			if y > 0 {
				low, high = min(low, y), max(high, y)
			}
		}
	}
	if len(x) < 2 || low > high {
		return fmt.Errorf("plot %q: nothing to draw", title)
	}
	low, high = math.Pow(10, math.Floor(math.Log10(low))), math.Pow(10, math.Ceil(math.Log10(high)))
	if low == high {
		high *= 10
	}
	atX := func(v float64) float64 {
		return left + (width-left-right)*math.Log(v/x[0])/math.Log(x[len(x)-1]/x[0])
	}
	atY := func(v float64) float64 {
		return height - bottom - (height-top-bottom)*math.Log(v/low)/math.Log(high/low)
	}

	d := drawing{out: out}
	d.say(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="13">`, width, height)
	d.say(`<rect width="%d" height="%d" fill="white"/>`, width, height)
	d.text(left, 22, "start", "#222222", title)
	d.text((left+width-right)/2, height-12, "middle", "#222222", xName)
	d.say(`<text transform="translate(18 %d) rotate(-90)" text-anchor="middle" fill="#222222">%s</text>`, (top+height-bottom)/2, html.EscapeString(yName))
	for _, v := range x {
		d.line(atX(v), top, atX(v), height-bottom)
		d.text(atX(v), height-bottom+18, "middle", "#222222", fmt.Sprint(v))
	}
	for v := low; v <= high*1.01; v *= 10 {
		d.line(left, atY(v), width-right, atY(v))
		d.text(left-8, atY(v)+4, "end", "#222222", fmt.Sprintf("%.10g", v))
	}
	for i, l := range lines {
		colour := colours[i%len(colours)]
		path, pen := "", "M"
		for j, y := range l.Y {
			if y > 0 {
				path += fmt.Sprintf("%s%.1f %.1f", pen, atX(x[j]), atY(y))
				pen = "L"
			}
		}
		d.say(`<path d="%s" fill="none" stroke="%s" stroke-width="2"/>`, path, colour)
		y := float64(top + 10 + 20*i)
		d.say(`<rect x="%d" y="%.0f" width="14" height="4" fill="%s"/>`, width-right+16, y-6, colour)
		d.text(width-right+36, y, "start", "#222222", l.Name)
	}
	d.say(`</svg>`)
	return d.err
}

type drawing struct {
	out io.Writer
	err error
}

func (d *drawing) say(format string, args ...any) {
	if d.err == nil {
		_, d.err = fmt.Fprintf(d.out, format+"\n", args...)
	}
}

func (d *drawing) line(x1, y1, x2, y2 float64) {
	d.say(`<path d="M%.1f %.1fL%.1f %.1f" stroke="#dddddd"/>`, x1, y1, x2, y2)
}

func (d *drawing) text(x, y float64, anchor, colour, text string) {
	d.say(`<text x="%.1f" y="%.1f" text-anchor="%s" fill="%s">%s</text>`, x, y, anchor, colour, html.EscapeString(text))
}
